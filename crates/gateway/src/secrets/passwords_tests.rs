//! Unit tests of `passwords.rs`.

use super::*;

#[test]
fn replacing_password_shares_the_salt_and_each_matches_its_own_hash() {
    let pepper = Pepper::new(b"pepper");
    let old = hash(&pepper, "secret08").unwrap();
    let new = hash_with_salt_of(&pepper, "secret09", &old).unwrap();
    let salt = |hash: &str| hash.split('$').nth(4).unwrap().to_owned();
    assert_eq!(salt(&old), salt(&new));
    let hashes = [new, old];
    for (password, expect) in [("secret09", Some(0)), ("secret08", Some(1)), ("secret07", None)] {
        assert_eq!(matching(&pepper, password.as_bytes(), &hashes), expect, "{password}");
    }
}

#[test]
fn unknown_system_id_takes_one_computation_of_the_same_cost_as_a_known_one() {
    let pepper = Pepper::new(b"pepper");
    let stored = |hashes: &[&str]| -> Vec<Work> {
        let works: Vec<Work> = hashes.iter().filter_map(|hash| parts(hash)).map(|(work, _)| work).collect();
        super::works(works.iter())
    };
    let cost = |Work { costs, .. }: &Work| (costs.m_cost(), costs.t_cost(), costs.p_cost());
    let old = hash(&pepper, "secret08").unwrap();
    let new = hash_with_salt_of(&pepper, "secret09", &old).unwrap();
    let known = stored(&[&old]);
    assert_eq!(known.len(), 1);
    for others in [stored(&[]), stored(&["not a hash"])] {
        assert_eq!((others.len(), cost(&others[0])), (1, cost(&known[0])));
        assert_eq!(others[0].salt.len(), known[0].salt.len());
    }
    assert_eq!(stored(&[&new, &old]), known, "while both passwords are valid");
    let other = hash(&pepper, "secret08").unwrap();
    assert_eq!(stored(&[&old, &other]).len(), 2);
}

#[test]
fn hash_is_salted_and_matches_only_its_password() {
    let pepper = Pepper::new(b"pepper");
    let matches = |password: &[u8], hash: &str| super::matches(&pepper, password, hash);
    let (one, other) = (hash(&pepper, "secret08").unwrap(), hash(&pepper, "secret08").unwrap());
    assert!(one.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{one}");
    assert_ne!(one, other);
    assert!(matches(b"secret08", &one) && matches(b"secret08", &other));
    assert!(!matches(b"secret09", &one) && !matches(b"", &one));
    assert!(!matches(b"secret08", "not a hash"));
    assert!(!super::matches(&Pepper::new(b"salt"), b"secret08", &one));
}

#[test]
fn generated_passwords_have_eight_evenly_distributed_characters() {
    let mut counts = std::collections::HashMap::new();
    for _ in 0..2_000 {
        let made = random().unwrap();
        assert_eq!(made.reveal().len(), 8);
        made.reveal().chars().for_each(|character| *counts.entry(character).or_insert(0) += 1);
    }
    assert_eq!(counts.len(), ALPHABET.len());
    // 258 of each are expected; six standard deviations are 97.
    assert!(counts.values().all(|count| (160..360).contains(count)), "{counts:?}");
}
