//! Destinations of well-known numbers, and checks of the data files.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

const NUMBERS_FILE: &str = include_str!("../../data/numbers.tsv");
const COUNTRIES_FILE: &str = include_str!("../../data/countries.tsv");

/// Every calling code that belongs to countries, and the main one of them.
const CALLING_CODES: &str = "1 US 7 RU 20 EG 27 ZA 30 GR 31 NL 32 BE 33 FR 34 ES 36 HU 39 IT 40 RO 41 CH 43 AT 44 GB \
    45 DK 46 SE 47 NO 48 PL 49 DE 51 PE 52 MX 53 CU 54 AR 55 BR 56 CL 57 CO 58 VE 60 MY 61 AU 62 ID 63 PH 64 NZ 65 SG \
    66 TH 81 JP 82 KR 84 VN 86 CN 90 TR 91 IN 92 PK 93 AF 94 LK 95 MM 98 IR 211 SS 212 MA 213 DZ 216 TN 218 LY 220 GM \
    221 SN 222 MR 223 ML 224 GN 225 CI 226 BF 227 NE 228 TG 229 BJ 230 MU 231 LR 232 SL 233 GH 234 NG 235 TD 236 CF \
    237 CM 238 CV 239 ST 240 GQ 241 GA 242 CG 243 CD 244 AO 245 GW 246 IO 247 AC 248 SC 249 SD 250 RW 251 ET 252 SO \
    253 DJ 254 KE 255 TZ 256 UG 257 BI 258 MZ 260 ZM 261 MG 262 RE 263 ZW 264 NA 265 MW 266 LS 267 BW 268 SZ 269 KM \
    290 SH 291 ER 297 AW 298 FO 299 GL 350 GI 351 PT 352 LU 353 IE 354 IS 355 AL 356 MT 357 CY 358 FI 359 BG 370 LT \
    371 LV 372 EE 373 MD 374 AM 375 BY 376 AD 377 MC 378 SM 380 UA 381 RS 382 ME 383 XK 385 HR 386 SI 387 BA 389 MK \
    420 CZ 421 SK 423 LI 500 FK 501 BZ 502 GT 503 SV 504 HN 505 NI 506 CR 507 PA 508 PM 509 HT 590 GP 591 BO 592 GY \
    593 EC 594 GF 595 PY 596 MQ 597 SR 598 UY 599 CW 670 TL 672 NF 673 BN 674 NR 675 PG 676 TO 677 SB 678 VU 679 FJ \
    680 PW 681 WF 682 CK 683 NU 685 WS 686 KI 687 NC 688 TV 689 PF 690 TK 691 FM 692 MH 850 KP 852 HK 853 MO 855 KH \
    856 LA 880 BD 886 TW 960 MV 961 LB 962 JO 963 SY 964 IQ 965 KW 966 SA 967 YE 968 OM 970 PS 971 AE 972 IL 973 BH \
    974 QA 975 BT 976 MN 977 NP 992 TJ 993 TM 994 AZ 995 GE 996 KG 998 UZ";

/// Numbers below calling codes that several countries share.
const SHARED: &str = "+12025550123 US +14165550123 CA +16045550123 CA +18675550123 CA +12425550123 BS +12465550123 BB \
    +12645550123 AI +12685550123 AG +12845550123 VG +13405550123 VI +13455550123 KY +14415550123 BM +14735550123 GD \
    +16495550123 TC +16645550123 MS +16705550123 MP +16715550123 GU +16845550123 AS +17215550123 SX +17585550123 LC \
    +17675550123 DM +17845550123 VC +17875550123 PR +19395550123 PR +18095550123 DO +18295550123 DO +18495550123 DO \
    +18685550123 TT +18695550123 KN +18765550123 JM +16585550123 JM +79161234567 RU +74951234567 RU +77011234567 KZ \
    +77172123456 KZ +390612345678 IT +393381234567 IT +390669812345 VA +447700900123 GB +442079460123 GB \
    +441481123456 GG +447781123456 GG +441534123456 JE +447797123456 JE +441624123456 IM +447624123456 IM \
    +4740612345 NO +4779123456 SJ +61412345678 AU +61891641234 CX +61891621234 CC +212612345678 MA +262692123456 RE \
    +262639123456 YT +262269123456 YT +29051234 SH +2908999 TA +358401234567 FI +358181234567 AX +590690123456 GP \
    +590590271234 BL +590590431234 MF +59995181234 CW +5993181234 BQ +5997181234 BQ";

fn find(number: &str) -> Destination<'static> {
    Numbers::embedded().find(Msisdn::parse(number).unwrap())
}

fn pairs(text: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.chunks(2).map(|pair| (pair[0], pair[1])).collect::<Vec<_>>().into_iter()
}

#[test]
fn every_calling_code_has_a_country() {
    let listed = listed_prefixes();
    for (code, country) in pairs(CALLING_CODES) {
        // All numbers with the code belong to its main country or to one that shares it.
        for rest in ["0000000", "9999999"] {
            assert!(find(&format!("+{code}{rest}")).country.is_some(), "+{code}{rest}");
        }
        assert_eq!(listed.get(code), Some(&country), "+{code}");
    }
    assert_eq!(pairs(CALLING_CODES).count(), 206);
}

/// Returns every prefix of the file with its country.
fn listed_prefixes() -> BTreeMap<String, &'static str> {
    let mut country = "";
    let mut listed = BTreeMap::new();
    for line in NUMBERS_FILE.lines().skip(1) {
        if !line.starts_with(' ') {
            country = line.split('\t').next().unwrap();
        }
        let fields = line.rsplit('\t').next().unwrap().trim_start_matches(' ');
        for prefix in fields.split(' ').flat_map(ranges::run) {
            let twice = listed.insert(prefix.to_string(), country);
            assert_eq!(twice, None, "{prefix} is listed twice");
        }
    }
    listed
}

#[test]
fn shared_calling_codes_are_resolved() {
    for (number, country) in pairs(SHARED) {
        assert_eq!(find(number).country.map(|found| found.to_string()).as_deref(), Some(country), "{number}");
    }
}

#[test]
fn some_numbers_belong_to_no_country() {
    for number in
        ["+80012345678", "+870773123456", "+878101234567", "+888123456789", "+979123456789", "+2101234567"]
    {
        assert_eq!(find(number), Destination::UNKNOWN, "{number}");
    }
    let satellite = find("+881612345678");
    assert_eq!((satellite.country, satellite.operator), (None, "iridium satellite"));
    assert_eq!((satellite.country_name(), satellite.mcc()), ("", Some(Mcc::parse("901").unwrap())));
}

#[test]
fn operators_and_networks_of_well_known_numbers() {
    for (number, operator, network) in [
        ("+4915112345678", "T-Mobile", "262-01"),
        ("+4917612345678", "O2", "262-03"),
        ("+447400123456", "Three", "234-20"),
        ("+33607123456", "Orange France", "208-01"),
        ("+33612345678", "SFR", "208-10"),
        ("+34606123456", "Movistar", "214-07"),
        ("+393381234567", "TIM", "222-01"),
        ("+393471234567", "Vodafone", "222-10"),
        ("+31653123456", "KPN", "204-08"),
        ("+41791234567", "Swisscom", "228-01"),
        ("+4367612345678", "T-Mobile AT", "232-03"),
        ("+32475123456", "Proximus", "206-01"),
        ("+48601234567", "Plus", "260-01"),
        ("+380671234567", "Kyivstar", "255-03"),
        ("+905321234567", "Turkcell", "286-01"),
        ("+5521998765432", "Vivo", "724-06"),
        ("+254712345678", "Safaricom", "639-02"),
        ("+2348031234567", "MTN", "621-30"),
        ("+27821234567", "Vodacom", "655-01"),
        ("+201012345678", "Vodafone", "602-02"),
        ("+971501234567", "Etisalat", "424-02"),
        ("+966501234567", "STC", "420-01"),
        ("+923001234567", "Jazz", "410-01"),
        ("+8801712345678", "Grameenphone", "470-01"),
        ("+8613800138000", "China Mobile", "460-00"),
        ("+628121234567", "Telkomsel", "510-10"),
        ("+639171234567", "Globe", "515-02"),
        ("+84981234567", "Viettel", "452-04"),
        ("+6591234567", "SingTel", "525-01"),
        ("+61412345678", "Optus", "505-02"),
        // An Indian operator has a network in each circle, and the range does not say which.
        ("+919810012345", "Airtel", ""),
        // Fixed lines, and countries where ranges do not identify the operator.
        ("+498912345678", "", ""),
        ("+12025550123", "", ""),
    ] {
        let found = find(number);
        let text = found.network.map(|network| network.to_string()).unwrap_or_default();
        assert_eq!((found.operator, &*text), (operator, network), "{number}");
    }
}

#[test]
fn mcc_follows_from_the_country_only_if_it_has_one() {
    for (number, country, mcc) in [
        ("+4915112345678", "Germany", "262"),
        ("+498912345678", "Germany", "262"),
        ("+3227654321", "Belgium", "206"),
        ("+12025550123", "United States", ""),
        ("+442079460123", "United Kingdom", ""),
        ("+358181234567", "Åland Islands", ""),
    ] {
        let found = find(number);
        let text = found.mcc().map(|mcc| mcc.to_string()).unwrap_or_default();
        assert_eq!((found.country_name(), &*text), (country, mcc), "{number}");
    }
}

#[test]
fn country_is_a_listed_code() {
    for (code, name) in
        [("DE", "Germany"), ("US", "United States"), ("MK", "North Macedonia"), ("XK", "Kosovo")]
    {
        let country = Country::parse(code).unwrap();
        assert_eq!((country.to_string().as_str(), country.name()), (code, name));
        assert_eq!(format!("{country:?}"), format!("Country({code})"));
    }
    for text in ["", "D", "de", "De", "DEU", "ZZ", "AN", "49", "D\u{c9}", "\u{c9}"] {
        assert_eq!(Country::parse(text), Err(CountryRefusal), "{text:?}");
    }
    assert!(Country::all().is_sorted());
    assert!(Country::all().len() > 245, "{}", Country::all().len());
    let names: BTreeSet<&str> = Country::all().iter().map(|country| country.name()).collect();
    assert_eq!(names.len(), Country::all().len(), "no two countries have one name");
}

#[test]
fn countries_and_mccs_are_consistent() {
    let mcc = |text: &str| Mcc::parse(text).unwrap();
    let country = |text: &str| Country::parse(text).unwrap();
    for (code, expect) in
        [("262", "DE"), ("310", "US"), ("316", "US"), ("234", "GB"), ("340", "GP"), ("647", "RE")]
    {
        assert_eq!(country_of_mcc(mcc(code)), Some(country(expect)), "{code}");
    }
    for code in ["001", "901", "999"] {
        assert_eq!(country_of_mcc(mcc(code)), None, "{code}");
    }
    assert_eq!(mccs_of(country("DE")), [mcc("262")]);
    assert_eq!(mccs_of(country("US")), ["310", "311", "312", "313", "314", "315", "316"].map(mcc));
    assert_eq!(mccs_of(country("GG")), [mcc("234")], "shared with its neighbours");
    assert_eq!(mccs_of(country("AQ")), []);
    for country in Country::all() {
        assert!(mccs_of(*country).is_sorted(), "{country}");
    }
}

#[test]
fn data_files_are_well_formed() {
    assert!(NUMBERS_FILE.ends_with('\n') && COUNTRIES_FILE.ends_with('\n'));
    let codes: Vec<&str> = COUNTRIES_FILE.lines().skip(1).map(|line| &line[..2]).collect();
    assert!(codes.is_sorted_by(|one, next| one < next), "each country once, in order");

    let destinations: Vec<Vec<&str>> = NUMBERS_FILE
        .lines()
        .skip(1)
        .filter(|line| !line.starts_with(' '))
        .map(|line| line.split('\t').take(3).collect())
        .collect();
    assert!(destinations.is_sorted_by(|one, next| one < next), "each destination once, in order");

    let prefixes = listed_prefixes().len();
    assert!(prefixes > 25_000, "{prefixes}");
}

#[test]
fn every_country_has_an_example_that_is_found_again() {
    let examples = Numbers::examples();
    for (destination, number) in examples {
        assert_eq!(Numbers::embedded().find(*number), *destination, "{number}");
    }
    let named = |country: &str, operator: &str| {
        examples
            .iter()
            .any(|(destination, _)| destination.country_name() == country && destination.operator == operator)
    };
    assert!(named("Germany", "T-Mobile") && named("Germany", ""));
    let countries: std::collections::BTreeSet<&str> =
        examples.iter().map(|(destination, _)| destination.country_name()).collect();
    assert!(countries.len() > 200, "{}", countries.len());
}
