//! The requests that are not about one entry: whole files, money, opt-outs, reviews, looking.

use super::{WITH_BODY, answer, body, in_path, in_query, limit, of, operation, phone, text};
use crate::edges::operator_api::{backup, erase, explain, look, money, opt_outs, reviews, set_aside, shapes};
use crate::provision::{EXAMPLE_TOML, Wanted};
use serde_json::json;
use utoipa::openapi::path::{HttpMethod, Operation, ParameterBuilder, PathItem};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::{ContentBuilder, KnownFormat, ObjectBuilder, Required, SchemaFormat, Type};

type Paths = Vec<(String, PathItem)>;

pub(super) fn whole() -> Paths {
    let flag = || ObjectBuilder::new().schema_type(Type::Boolean).default(Some(false.into()));
    let file = ContentBuilder::new().schema(Some(text())).example(Some(EXAMPLE_TOML.into())).build();
    let shop = json!({
        "account": [{ "name": "shop", "currency": "EUR", "verified": true, "countries": ["DE", "AT"] }],
        "price": [{ "prefix": "49", "per_part": "0.05", "account": "shop" }],
    });
    let object = ContentBuilder::new().schema(Some(of::<Wanted>())).example(Some(shop)).build();
    let given = RequestBodyBuilder::new()
        .required(Some(Required::True))
        .content("application/toml", file)
        .content("application/json", object);
    let apply = operation(
        "Whole files",
        "apply",
        "Apply a provision file",
        &[&["INVALID_TOML", "INVALID_FIELD", "REFUSED", "NOT_REMOVABLE"], &WITH_BODY],
    )
    .description(Some(
        "A new name makes an entry. Of an entry that exists, the fields that the file mentions change; fields that it \
         says as when it was last applied are left alone if they were changed since. All of it is done or nothing.",
    ))
    .parameter(in_query("dry_run", "Only tell what would change.", flag(), Required::False))
    .parameter(in_query(
        "force",
        "Bring everything to the file, also fields that were changed since it was last applied.",
        flag(),
        Required::False,
    ))
    .request_body(Some(given.build()))
    .response("200", answer("What changed, or would change.", of::<shapes::AppliedShape>()));
    vec![("/apply".to_owned(), PathItem::new(HttpMethod::Post, apply.build()))]
}

pub(super) fn rest() -> Paths {
    let get = |path: &str, operation| (path.to_owned(), PathItem::new(HttpMethod::Get, operation));
    let mut ledger = PathItem::new(HttpMethod::Get, ledger());
    ledger.post = Some(post_entry());
    let mut opt_out = PathItem::new(HttpMethod::Put, put_opt_out());
    opt_out.delete = Some(remove_opt_out());
    let decide = |path: &str, approve| (path.to_owned(), PathItem::new(HttpMethod::Post, decide(approve)));
    vec![
        get("/accounts/{name}/balance", balance()),
        ("/accounts/{name}/ledger".to_owned(), ledger),
        get("/accounts/{name}/statement", statement()),
        get("/accounts/{name}/days", days()),
        get("/accounts/{name}/traffic", traffic()),
        get("/accounts/{name}/opt-outs", opt_outs_page()),
        ("/accounts/{name}/opt-outs/{number}".to_owned(), opt_out),
        get("/reviews", reviews_page()),
        get("/reviews/{id}", review()),
        decide("/reviews/{id}/approve", true),
        decide("/reviews/{id}/reject", false),
        get("/lookup/{number}", look_up()),
        get("/routes/explain", explain_route()),
        get("/errors", errors()),
        get("/set-aside", rows_set_aside()),
        ("/backups".to_owned(), PathItem::new(HttpMethod::Post, backup())),
        ("/erasures".to_owned(), PathItem::new(HttpMethod::Post, erase())),
    ]
}

fn rows_set_aside() -> Operation {
    let number = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0)).maximum(Some(i64::MAX));
    operation("Looking", "listSetAside", "See rows that make no sense", &[&["INVALID_FIELD"]])
        .description(Some(
            "Messages that cannot be sent because a row of the database is damaged or of another release. All parts of such \
             a message leave the queue, so that it holds up no other; the message is kept.",
        ))
        .parameter(in_query("after", "`next` of the page before.", number, Required::False))
        .parameter(limit(100))
        .response("200", answer("Oldest first.", of::<set_aside::SetAsidePage>()))
        .build()
}

fn erase() -> Operation {
    operation(
        "Erasures",
        "eraseNumber",
        "Erase a person's phone number",
        &[&["NOT_FOUND", "INVALID_FIELD"], &WITH_BODY],
    )
    .description(Some(
        "In every message to or from the number that has ended, the text is deleted and the number replaced by \
         +9990000000. Ids, states, times and money stay; so do opt-outs. What is still being delivered is left alone and \
         named: call again when it has ended.",
    ))
    .request_body(Some(body(of::<erase::ErasureRequest>())))
    .response("200", answer("What was erased, and what was not yet.", of::<erase::ErasureView>()))
    .build()
}

fn backup() -> Operation {
    operation(
        "Backups",
        "makeBackup",
        "Copy the database while it is in use",
        &[&["INVALID_FIELD", "NOT_RUNNING", "BACKUP_RUNNING"], &WITH_BODY],
    )
    .description(Some(
        "Only for callers on the gateway's own machine. The gateway writes the copy, a few pages at a time between \
         commits, and answers when it is complete. The keys of the data folder are not copied: `hermod backup` does that.",
    ))
    .request_body(Some(body(of::<backup::BackupRequest>())))
    .response("200", answer("The copy is complete and durable.", of::<backup::BackupView>()))
    .build()
}

fn account() -> ParameterBuilder {
    in_path("name", "The account.", "shop")
}

fn number() -> ParameterBuilder {
    in_path("number", "A plus, then 7 to 15 digits.", "+4915112345678").schema(Some(phone()))
}

fn review_id() -> ParameterBuilder {
    in_path("id", "The number of the case.", "1")
        .schema(Some(ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1))))
}

fn day(name: &str, description: &str) -> ParameterBuilder {
    let schema = text().format(Some(SchemaFormat::KnownFormat(KnownFormat::Date)));
    in_query(name, description, schema, Required::True)
}

fn before() -> ParameterBuilder {
    let id = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0)).maximum(Some(i64::MAX));
    in_query("before", "`next` of the page before.", id, Required::False)
}

fn balance() -> Operation {
    operation("Money", "getBalance", "Read an account's balance", &[&["NOT_FOUND"]])
        .description(Some("The figures always add up: available = balance + credit_limit - credit_used."))
        .parameter(account())
        .response("200", answer("What the account has, owes and may spend.", of::<money::BalanceShape>()))
        .build()
}

fn post_entry() -> Operation {
    operation(
        "Money",
        "postEntry",
        "Top up, invoice, enter a payment, adjust",
        &[&["NOT_FOUND", "INVALID_FIELD", "REFUSED", "NOTHING_OWED", "REFERENCE_TAKEN"], &WITH_BODY],
    )
    .description(Some(
        "With a `reference` it can be repeated until its answer arrives. An invoice without an amount is for all that is \
         owed.",
    ))
    .parameter(account())
    .request_body(Some(body(of::<money::PostShape>())))
    .response("201", answer("It was posted.", of::<money::PostedShape>()))
    .response("200", answer("Its reference was posted before; nothing changed.", of::<money::PostedShape>()))
    .build()
}

fn ledger() -> Operation {
    operation("Money", "listLedger", "Read an account's ledger", &[&["NOT_FOUND", "INVALID_FIELD"]])
        .description(Some("Newest first. What messages cost is not in it: see the statement."))
        .parameter(account())
        .parameter(before())
        .parameter(limit(100))
        .response("200", answer("A page of entries.", of::<money::LedgerPage>()))
        .build()
}

fn statement() -> Operation {
    operation("Money", "getStatement", "Read an account's statement", &[&["NOT_FOUND", "INVALID_FIELD"]])
        .description(Some("Opening and lines together are exactly the closing. 366 UTC days at most."))
        .parameter(account())
        .parameter(day("from", "The first day."))
        .parameter(day("to", "The last day."))
        .response("200", answer("Entries, and what each day's messages cost.", of::<money::StatementShape>()))
        .build()
}

fn days() -> Operation {
    operation(
        "Money",
        "listDays",
        "Read an account's messages and spend by the day",
        &[&["NOT_FOUND", "INVALID_FIELD"]],
    )
    .parameter(account())
    .parameter(day("from", "The first day."))
    .parameter(day("to", "The last day."))
    .response("200", answer("Days that had messages.", of::<money::DaysShape>()))
    .build()
}

fn traffic() -> Operation {
    operation("Looking", "getTraffic", "Read what an account sent today, and its controls", &[&["NOT_FOUND"]])
        .parameter(account())
        .response("200", answer("Today's totals beside each control.", of::<look::TrafficShape>()))
        .build()
}

fn opt_outs_page() -> Operation {
    operation("Opt-outs", "listOptOuts", "List an account's opt-outs", &[&["NOT_FOUND", "INVALID_FIELD"]])
        .parameter(account())
        .parameter(in_query("after", "`next` of the page before.", phone(), Required::False))
        .parameter(limit(100))
        .response("200", answer("A page, in order of the numbers.", of::<opt_outs::OptOutPage>()))
        .build()
}

fn put_opt_out() -> Operation {
    let how = ContentBuilder::new().schema(Some(of::<opt_outs::HowShape>())).build();
    let given = RequestBodyBuilder::new().content("application/json", how).build();
    operation("Opt-outs", "putOptOut", "Enter an opt-out", &[&["NOT_FOUND", "INVALID_FIELD"], &WITH_BODY])
        .parameter(account())
        .parameter(number())
        .request_body(Some(given))
        .response("201", answer("It is new.", of::<opt_outs::OptOutShape>()))
        .response("200", answer("It was there before.", of::<opt_outs::OptOutShape>()))
        .build()
}

fn remove_opt_out() -> Operation {
    operation("Opt-outs", "deleteOptOut", "Lift an opt-out", &[&["NOT_FOUND", "INVALID_FIELD"]])
        .parameter(account())
        .parameter(number())
        .response("200", answer("Messages may be sent again.", of::<opt_outs::RemovedShape>()))
        .build()
}

fn reviews_page() -> Operation {
    let state = text().enum_values(Some(["open", "approved", "rejected"]));
    operation("Reviews", "listReviews", "List review cases", &[&["INVALID_FIELD"]])
        .parameter(in_query("state", "Only those in this state.", state, Required::False))
        .parameter(before())
        .parameter(limit(100))
        .response("200", answer("A page, newest first.", of::<reviews::ReviewPage>()))
        .build()
}

fn review() -> Operation {
    operation("Reviews", "getReview", "Read a review case", &[&["NOT_FOUND"]])
        .parameter(review_id())
        .response("200", answer("The case, with its text.", of::<reviews::ReviewShape>()))
        .build()
}

fn decide(approve: bool) -> Operation {
    let (id, summary, description) = if approve {
        ("approveReview", "Approve a held message", "The customer's own retry passes for seven days.")
    } else {
        ("rejectReview", "Reject a held message", "It stays refused. The last decision holds.")
    };
    operation("Reviews", id, summary, &[&["NOT_FOUND", "INVALID_FIELD"], &WITH_BODY])
        .description(Some(description))
        .parameter(review_id())
        .request_body(Some(body(of::<reviews::DecisionShape>())))
        .response("200", answer("The case as decided.", of::<reviews::ReviewShape>()))
        .build()
}

fn look_up() -> Operation {
    let account = in_query("account", "Whose price, countries and routes to tell.", text(), Required::False);
    operation("Looking", "lookUp", "Look a number up", &[&["NOT_FOUND", "INVALID_FIELD"]])
        .description(Some("What is known before anything is sent: country, operator, network, route, price."))
        .parameter(number())
        .parameter(account)
        .parameter(from())
        .response("200", answer("What is not known is empty.", of::<look::NumberShape>()))
        .build()
}

fn from() -> ParameterBuilder {
    in_query("from", "The sender; without it, one that no route is for.", text(), Required::False)
}

fn explain_route() -> Operation {
    let account = "Whose message it is; without it, an account that no route is for.";
    operation("Looking", "explainRoute", "Ask why a message goes where it goes", &[&["NOT_FOUND", "INVALID_FIELD"]])
        .description(Some(
            "Every route for the number with what became of it, and every carrier of the one that is taken with how it is \
             doing now.",
        ))
        .parameter(in_query("to", "The recipient.", phone(), Required::True))
        .parameter(in_query("account", account, text(), Required::False))
        .parameter(from())
        .response("200", answer("Nothing is sent.", of::<explain::ExplainedShape>()))
        .build()
}

fn errors() -> Operation {
    operation("Looking", "listErrors", "List the error codes customers can meet", &[])
        .response("200", answer("The published catalogue.", of::<look::ErrorsShape>()))
        .build()
}
