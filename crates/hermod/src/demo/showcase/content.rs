//! What the showcase accounts write, and to whom, chosen with random numbers from a fixed seed, so that every demo tells the
//! same story.

/// A destination of the shop.
pub(super) struct ShopCountry {
    /// Two letters (ISO 3166).
    pub(super) code: &'static str,
    /// The beginning of a mobile number.
    start: &'static str,
    /// Digits that follow it.
    digits: u32,
    /// Ten-thousandths of a euro for a part.
    pub(super) price: u32,
    /// How often it is chosen, among all.
    share: u64,
    greeting: &'static str,
}

const fn country(
    code: &'static str,
    start: &'static str,
    digits: u32,
    price: u32,
    share: u64,
    greeting: &'static str,
) -> ShopCountry {
    ShopCountry { code, start, digits, price, share, greeting }
}

pub(super) const COUNTRIES: [ShopCountry; 12] = [
    country("DE", "+491511", 7, 745, 34, "Hallo"),
    country("GB", "+4474", 8, 380, 16, "Hello"),
    country("FR", "+33612", 6, 520, 11, "Bonjour"),
    country("ES", "+34612", 6, 610, 8, "Hola"),
    country("IT", "+39347", 7, 660, 7, "Ciao"),
    country("NL", "+31612", 6, 805, 6, "Hoi"),
    country("PL", "+48512", 6, 290, 5, "Cześć"),
    country("SE", "+46701", 6, 480, 4, "Hej"),
    country("AT", "+43664", 7, 690, 3, "Servus"),
    country("CH", "+41791", 6, 560, 3, "Grüezi"),
    country("US", "+1202456", 4, 79, 2, "Hi"),
    country("IN", "+919812", 6, 190, 1, "Namaste"),
];

/// Returns a destination of the shop.
pub(super) fn any_country(random: &mut DemoRandom) -> &'static ShopCountry {
    let mut left = random.below(COUNTRIES.iter().map(|country| country.share).sum());
    for country in &COUNTRIES {
        match left.checked_sub(country.share) {
            Some(less) => left = less,
            None => return country,
        }
    }
    &COUNTRIES[0]
}

impl ShopCountry {
    pub(super) fn by_code(code: &str) -> &'static ShopCountry {
        COUNTRIES.iter().find(|country| country.code == code).unwrap_or(&COUNTRIES[0])
    }

    /// Returns one of a few hundred numbers, so that some people get several messages.
    pub(super) fn number(&self, random: &mut DemoRandom) -> String {
        let person = random.below(400) * 2_713 + 10_007;
        let digits = format!("{person:0width$}", width = usize::try_from(self.digits).unwrap_or_default());
        let kept = &digits[digits.len() - usize::try_from(self.digits).unwrap_or_default()..];
        format!("{}{kept}", self.start)
    }
}

/// Returns a text of the shop to someone in this country.
pub(super) fn shop_text(country: &ShopCountry, random: &mut DemoRandom) -> String {
    let (greeting, order, code) =
        (country.greeting, random.between(48_000, 61_999), random.between(100_000, 999_999));
    match random.below(100) {
        0..30 => format!("{code} is your Aurora sign-in code. It is valid for 10 minutes. Never share it."),
        30..55 => format!(
            "{greeting}! Your order {order} has been shipped and arrives tomorrow between 10:00 and 13:00."
        ),
        55..72 => format!(
            "{greeting}! Your parcel {order} waits at the pick-up point. Code: {}. Open until 20:00.",
            code % 10_000
        ),
        72..84 => format!(
            "Aurora: we received the return of order {order}. The refund of EUR {}.90 is on its way.",
            random.between(9, 180)
        ),
        84..92 => format!(
            "{greeting}! Thank you for shopping with Aurora. Your order {order} is confirmed. We will write again when it leaves \
             our warehouse. Questions? Just reply to this message, or write STOP to get no more of them."
        ),
        92..97 => format!(
            "{greeting}! 🎁 Your gift card for order {order} is ready. Reply YES to get it by e-mail."
        ),
        _ => format!(
            "Aurora: delivery of order {order} failed today, nobody was at home. Reply 1 for tomorrow, 2 for a pick-up point."
        ),
    }
}

/// Returns a text of the taxi service.
pub(super) fn taxi_text(random: &mut DemoRandom) -> String {
    const DRIVERS: [&str; 6] = ["Amira", "Tom", "Zoë", "Jakub", "Priya", "Luca"];
    let (driver, minutes, plate) = (*random.pick(&DRIVERS), random.between(2, 12), random.between(100, 999));
    match random.below(10) {
        0..5 => format!("KiteCab: {driver} arrives in {minutes} minutes. White Prius, KT{plate}."),
        5..8 => format!("KiteCab: {driver} is here. Look for the white Prius, KT{plate}."),
        _ => format!(
            "KiteCab: thank you for riding with {driver}. Your fare was GBP {}.{:02}.",
            minutes + 4,
            plate % 100
        ),
    }
}

/// What customers reply.
pub(super) const REPLIES: [&str; 10] = [
    "YES",
    "2",
    "Thank you!",
    "Danke, das passt gut.",
    "Can you deliver to my neighbour?",
    "Merci 👍",
    "Where is my parcel?",
    "1",
    "Please call me back after 5 pm",
    "Grazie mille",
];

/// SplitMix64: small, and good enough for a story.
pub(super) struct DemoRandom(u64);

impl DemoRandom {
    pub(super) fn seeded(seed: u64) -> DemoRandom {
        DemoRandom(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`, which is not 0.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub(super) fn between(&mut self, from: u64, to: u64) -> u64 {
        from + self.below(to - from + 1)
    }

    /// Whether something that happens this often in a thousand happens now.
    pub(super) fn happens(&mut self, per_thousand: u64) -> bool {
        self.below(1_000) < per_thousand
    }

    pub(super) fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        let count = u64::try_from(choices.len()).expect("a short list");
        &choices[usize::try_from(self.below(count)).expect("less than its length")]
    }
}
