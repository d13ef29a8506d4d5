//! Queries of the record over the operator API that need no message: invalid ones, and those of a gateway without a record.

use crate::fixture::ApiFixture;

#[tokio::test]
async fn invalid_query_says_what_is_wrong_and_what_to_do() {
    let fixture = ApiFixture::open().await;
    for (path, expect) in [
        ("/messages?to=x", "400 INVALID_FIELD: to: "),
        (
            "/messages?to=*",
            "400 INVALID_FIELD: to: \"*\" is neither the beginning of numbers such as +49151*",
        ),
        ("/messages?to=*567", "400 INVALID_FIELD: to: \"*567\" is neither the beginning of numbers"),
        ("/requests?to=x", "400 INVALID_FIELD: to: \"+x\": "),
        ("/requests?to=4915*", "400 INVALID_FIELD: to: \"+4915*\": "),
        ("/messages?state=gone", "400 INVALID_FIELD: state: \"gone\" is none of queued, submitted, "),
        ("/messages?country=Germany", "400 INVALID_FIELD: country: "),
        (
            "/messages?network=262",
            "400 INVALID_FIELD: network: \"262\" is not an MCC and an MNC such as 262-01",
        ),
        ("/messages?since=yesterday", "400 INVALID_FIELD: since: \"yesterday\" is not a time such as "),
        ("/messages?since=1h&until=2h", "400 INVALID_FIELD: until: "),
        ("/messages?key=order-1", "400 INVALID_FIELD: key: give the account too"),
        ("/messages?event=4711", "400 INVALID_FIELD: event: \"4711\" is not the webhook-id of an event"),
        ("/messages?cursor=x", "400 INVALID_FIELD: cursor: \"x\" is not the next of an earlier page"),
        ("/messages?limit=0", "400 INVALID_FIELD: "),
        ("/messages?colour=red", "400 INVALID_FIELD: "),
        ("/messages?account=nobody", "404 NOT_FOUND: there is no account \"nobody\""),
        ("/messages?carrier=nobody", "404 NOT_FOUND: there is no carrier \"nobody\""),
        ("/messages?connection=nobody", "404 NOT_FOUND: there is no connection \"nobody\""),
        ("/messages/x", "404 NOT_FOUND: there is no message x"),
        ("/messages/text?text=code", "400 INVALID_FIELD: account: a text is looked for in one account"),
        ("/messages/text?account=shop", "400 INVALID_FIELD: text: give the text to look for"),
        ("/statistics?by=connection", "400 INVALID_FIELD: by: connections are counted within one account"),
        (
            "/statistics?by=account&account=shop",
            "400 INVALID_FIELD: by: accounts are counted over all accounts",
        ),
        ("/statistics?value=DE", "400 INVALID_FIELD: value: say with by what it is"),
        ("/statistics?per=week", "400 INVALID_FIELD: per: "),
        ("/requests?kind=call", "400 INVALID_FIELD: kind: \"call\" is none of http, submit and bind"),
        ("/requests?rejected=maybe", "400 INVALID_FIELD: "),
        ("/requests/groups?account=nobody", "404 NOT_FOUND: "),
    ] {
        let answer = fixture.get(path).await.status_and_error();
        assert!(answer.starts_with(expect), "{path}: {answer}");
    }
}

#[tokio::test]
async fn gateway_without_a_record_says_how_to_switch_it_on() {
    let fixture = ApiFixture::open().await;
    for path in [
        "/messages?account=shop&to=%2B49151*&since=2h",
        "/messages.csv",
        "/messages/count?key=order-1&account=shop",
        "/messages/text?account=shop&text=code",
        "/messages/15526526976000001",
        "/statistics?by=country&sum=true",
        "/statistics.csv",
        "/requests?kind=bind&rejected=true",
        "/requests.csv",
        "/requests/groups",
    ] {
        let reply = fixture.get(path).await;
        assert_eq!((reply.status, reply.header("x-error-code")), (409, Some("RECORD_OFF")), "{path}");
        assert!(reply.error().contains("enabled = true"), "{}", reply.error());
    }
    assert_eq!(fixture.get("/record").await.body["enabled"], false);
    assert_eq!(fixture.get("/live").await.header("x-error-code"), Some("NOT_RUNNING"));
    let running = fixture.running();
    assert_eq!(running.get("/live").await.header("x-error-code"), Some("RECORD_OFF"));
}
