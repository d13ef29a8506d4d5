//! Unit tests of `seed.rs`.

use super::*;

fn address() -> SocketAddr {
    "127.0.0.1:2775".parse().unwrap()
}

#[test]
fn own_data_are_valid() {
    let folder = tempfile::tempdir().unwrap();
    let credentials = DemoCredentials::load_or_make(folder.path()).ok().unwrap();
    let wanted = wanted(&credentials, address());
    assert_eq!(wanted.keys[0].secret.as_ref().unwrap().reveal(), credentials.own.api_secret);
    assert_eq!(wanted.connections[1].password.as_ref().unwrap().reveal(), credentials.smpp_password);
    assert_eq!(wanted.routes[0].carriers.as_ref().unwrap()[0].carrier(), CARRIER);
    assert_eq!(first_number(&wanted).as_deref(), Some(NUMBER));
}

#[test]
fn simulated_carrier_is_added_to_a_file_and_its_routes_are_kept() {
    let acme = "[[carrier]]\nname = \"acme\"\naddress = \"a:1\"\nsystem_id = \"h\"\npassword = \"p\"\nwindow = 1\nrate = 1\n";
    let demo = acme.replace("acme", "demo");
    let route = "[[route]]\nprefix = \"49\"\ncarriers = [\"demo\"]\n";
    for (text, carriers, prefix, routed) in [
        ("", vec!["demo"], "", vec!["demo"]),
        (acme, vec!["acme", "demo"], "", vec!["acme"]),
        (route, vec!["demo"], "49", vec!["demo"]),
        (&format!("{acme}{route}"), vec!["acme", "demo"], "49", vec!["demo"]),
        (&demo, vec!["demo"], "", vec!["demo"]),
    ] {
        let wanted = with_carrier(read(text.to_owned()), address());
        let names: Vec<&str> = wanted.carriers.iter().map(|carrier| carrier.name.as_str()).collect();
        assert_eq!(names, carriers, "{text}");
        assert_eq!(wanted.routes.len(), 1, "{text}");
        assert_eq!(wanted.routes[0].prefix.unwrap().to_string(), prefix, "{text}");
        let carriers: Vec<&str> =
            wanted.routes[0].carriers.iter().flatten().map(|via| via.carrier()).collect();
        assert_eq!(carriers, routed, "{text}");
    }
}
