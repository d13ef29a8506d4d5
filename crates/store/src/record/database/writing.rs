//! The only connection that writes the record. Each flush is one transaction, and can be repeated: a message that is there is
//! not added again, and one that has ended does not end again.

use crate::record::database::purging::RecordRetention;
use crate::record::database::rows::{
    MESSAGE_COLUMNS, MESSAGE_WIDTH, choice_to_stored, compared_to_stored, costs_to_stored, message_encoding,
    read_message, recipient_to_stored, settled_to_stored, took,
};
use crate::record::database::schema::MESSAGES_PER_CHUNK;
use crate::record::database::{checking, erasing, figures, purging, request_log, schema};
use crate::record::keys::SearchKey;
use crate::record::pending::{MessageEnd, NewMessage, PendingMessage, RecordPosition, append_steps};
use crate::record::tally::{Collected, Counts, SharedCollected};
use crate::record::{RecordErasure, RecordedMessage, RequestEntry};
use crate::sql::read_results::StorePosition;
use crate::sql::{Connection, OptionalExtension, Row, SqlStatement, params};
use hermod_domain::ids::{CarrierId, MessageId};
use hermod_domain::time::Timestamp;
use hermod_engine::steps::StepKind;
use hermod_engine::tables::TableError;
use std::borrow::Cow;
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

/// The follower's connection.
pub(crate) struct RecordConnection {
    pub(super) connection: Connection,
    /// Messages that were ever added.
    messages: Cell<u64>,
    folder: PathBuf,
    /// The file of the log.
    pub(super) log: PathBuf,
    /// Whether the file must be checked before it is read.
    pub(crate) needs_check: bool,
    /// Whether a file that could not be used was moved aside for it.
    pub(crate) is_replaced: bool,
    /// Pages in the log, as of the last commit.
    pub(super) log_pages: Arc<AtomicI32>,
    /// Pages that the disk was told to write.
    pub(super) pages_begun: Cell<i32>,
}

/// What one transaction writes.
pub(crate) struct Flush<'a> {
    /// In the order of their ids.
    pub messages: &'a [PendingMessage],
    pub requests: &'a [RequestEntry],
    /// Where the record is after this.
    pub position: RecordPosition,
    /// Whether to return the messages that changed.
    pub is_watched: bool,
}

/// What one transaction changed.
#[derive(Default)]
pub(crate) struct Flushed {
    pub counts: Counts,
    /// Messages that were added.
    pub added: u64,
    /// The messages that changed, with their latest step, if they were asked for.
    pub changed: Vec<(RecordedMessage, Option<StepKind>)>,
}

impl RecordConnection {
    /// Opens the record: see [`schema::open_for_writing`].
    pub(crate) fn open(folder: &Path, store: StorePosition) -> Result<RecordConnection, TableError> {
        let needs_check = !checking::takes_closed_mark(folder);
        let (mut connection, is_replaced) = schema::open_for_writing(folder, store.id, store.sequence)?;
        let log_pages = Arc::new(AtomicI32::new(0));
        let counter = log_pages.clone();
        connection.sqlite_mut().wal_hook(Some(move |_: &mut _, pages| {
            counter.store(pages, Ordering::Relaxed);
            Ok(())
        }))?;
        let messages: i64 = connection.query_row("SELECT messages FROM position", [], |row| row.get(0))?;
        Ok(RecordConnection {
            connection,
            messages: Cell::new(messages.cast_unsigned()),
            folder: folder.to_owned(),
            log: folder.join(format!("{}-wal", schema::FILE_NAME)),
            needs_check,
            is_replaced,
            log_pages,
            pages_begun: Cell::new(0),
        })
    }

    /// Returns where the record is.
    pub(crate) fn position(&self) -> Result<RecordPosition, TableError> {
        read_position(&self.connection)
    }

    /// Reads back the figures that are not in the tables of the statistics.
    pub(crate) fn read_collected(&self) -> Result<Collected, TableError> {
        figures::read_collected(&self.connection)
    }

    /// Moves the collected figures to the tables.
    pub(crate) fn fold(&self, collected: &SharedCollected, now: Timestamp) -> Result<(), TableError> {
        figures::fold(&self.connection, collected, now)
    }

    /// Deletes some rows that are past their retention. Returns whether there may be more.
    pub(crate) fn purge(&self, keep: RecordRetention) -> Result<bool, TableError> {
        purging::purge(&self.connection, keep)
    }

    /// Erases numbers. Returns in how many rows.
    pub(crate) fn erase(&self, erased: &RecordErasure) -> Result<u64, TableError> {
        erasing::erase(&self.connection, erased)
    }

    #[cfg(test)]
    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Returns the newest message.
    pub(crate) fn newest(&self) -> Result<Option<i64>, TableError> {
        Ok(self.connection.query_row("SELECT max(id) FROM message", [], |row| row.get(0))?)
    }

    /// Returns at most `limit` messages that have not ended, from `first` to `last`.
    pub(crate) fn open_messages(&self, first: i64, last: i64, limit: usize) -> Result<Vec<i64>, TableError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT id FROM message INDEXED BY message_open WHERE settled_ms IS NULL AND id BETWEEN ?1 AND ?2
             ORDER BY id LIMIT ?3",
        )?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let ids = statement.query_map(params![first, last, limit], |row| row.get(0))?;
        Ok(ids.collect::<Result<_, _>>()?)
    }

    /// Returns a message if it has not ended.
    pub(crate) fn open_message(&self, id: i64) -> Result<Option<RecordedMessage>, TableError> {
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT {MESSAGE_COLUMNS} FROM message m WHERE m.id = ?1 AND m.settled_ms IS NULL"
        ))?;
        statement.query_row([id], |row| Ok(read_message(row))).optional()?.transpose()
    }

    /// Writes one flush. Nothing is changed if it fails.
    pub(crate) fn flush(&self, flush: &Flush<'_>) -> Result<Flushed, TableError> {
        let transaction = self.connection.transaction()?;
        let mut writing = Writing::new(&transaction, self.messages.get(), flush.is_watched)?;
        for pending in flush.messages {
            writing.write(pending)?;
        }
        let (messages, flushed) = writing.finish(flush)?;
        transaction.commit()?;
        self.messages.set(messages);
        Ok(flushed)
    }

    /// Completes the file before it is closed.
    pub(crate) fn finish(&self) -> Result<(), TableError> {
        self.truncate_log()?;
        if !self.needs_check {
            checking::put_closed_mark(&self.folder);
        }
        Ok(())
    }
}

/// One transaction while it is written. The statements are prepared once.
struct Writing<'c> {
    connection: &'c Connection,
    is_watched: bool,
    insert: SqlStatement<'c>,
    find: SqlStatement<'c>,
    change: SqlStatement<'c>,
    end: SqlStatement<'c>,
    /// Messages that were ever added.
    messages: u64,
    by_account: Vec<(u32, i64)>,
    /// The chunk, the key and the message.
    keys: Vec<(u8, i64, i64, i64)>,
    flushed: Flushed,
    /// The steps of the current message.
    steps: Vec<u8>,
}

/// A message as the record has it.
struct Found {
    message: RecordedMessage,
    first_carrier: CarrierId,
    steps: Vec<u8>,
}

impl<'c> Writing<'c> {
    fn new(connection: &'c Connection, messages: u64, is_watched: bool) -> Result<Writing<'c>, TableError> {
        Ok(Writing {
            connection,
            is_watched,
            insert: connection.prepare_cached(
                "INSERT INTO message (id, account, connection, carrier, first_carrier, sender, recipient, encoding,
                     parts, charged_parts, cost, state, code, err, settled_ms, refund, balance, request, route, choice,
                     compared, steps, carrier_cost, cost_terms, billable, earlier_costs)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20,
                     ?21, ?22, ?23, ?24, ?25, ?26) ON CONFLICT DO NOTHING",
            )?,
            find: connection.prepare_cached(&format!(
                "SELECT {MESSAGE_COLUMNS}, m.first_carrier, m.steps FROM message m WHERE m.id = ?1"
            ))?,
            change: connection.prepare_cached(
                "UPDATE message SET carrier = ?2, first_carrier = ?3, state = ?4, steps = ?5, carrier_cost = ?6, cost_terms = ?7,
                     earlier_costs = ?8 WHERE id = ?1",
            )?,
            end: connection.prepare_cached(
                "UPDATE message SET carrier = ?2, first_carrier = ?3, state = ?4, steps = ?5, code = ?6, err = ?7,
                     settled_ms = ?8, refund = ?9, carrier_cost = ?10, cost_terms = ?11, earlier_costs = ?12,
                     billable = ?13 WHERE id = ?1",
            )?,
            messages,
            by_account: Vec::new(),
            keys: Vec::new(),
            flushed: Flushed::default(),
            steps: Vec::new(),
        })
    }

    /// Adds a message, or changes the one that is there. What happened to a message that the record does not have yet is
    /// left out: it is read from the store later.
    fn write(&mut self, pending: &PendingMessage) -> Result<(), TableError> {
        let is_added = match &pending.new {
            Some(new) => self.add(pending, new)?,
            None => false,
        };
        if !is_added && !self.change(pending)? {
            return Ok(());
        }
        for key in &pending.keys {
            self.add_key(pending.id, *key);
        }
        Ok(())
    }

    /// Adds a message. Returns false if it is there already.
    fn add(&mut self, pending: &PendingMessage, new: &NewMessage) -> Result<bool, TableError> {
        let NewMessage { message, first_carrier, charged_parts, balance, request, route, compared, key } =
            new;
        append_steps(&[], &pending.steps, pending.last_ms, &mut self.steps);
        let id = message.id;
        let costs = costs_to_stored(&message.costs);
        let added = self.insert.execute(params![
            id.as_i64(),
            message.account.get(),
            message.connection.get(),
            message.carrier.get(),
            (message.carrier != *first_carrier).then(|| first_carrier.get()),
            message.from.as_str(),
            recipient_to_stored(message.to),
            message_encoding(message),
            message.parts,
            charged_parts,
            message.cost.as_micros(),
            message.state.to_stored(),
            message.code.map(|code| code.as_u8()),
            message.settled_at.map(|_| message.err),
            message.settled_at.map(|at| settled_to_stored(id, at)),
            message.refund.map(|refund| refund.as_micros()),
            balance.map(|balance| balance.as_micros()),
            request.as_deref(),
            route.map(|(route, _)| route.get()),
            route.map(|(_, choice)| choice_to_stored(choice)),
            compared.as_deref().map(compared_to_stored),
            self.steps,
            costs.per_part,
            costs.terms,
            costs.billable,
            costs.earlier,
        ])?;
        if added == 0 {
            return Ok(false);
        }
        self.messages += 1;
        self.flushed.added += 1;
        self.flushed.counts.count_accepted(message, *first_carrier);
        if message.carrier != *first_carrier {
            self.flushed.counts.note_moved(message);
        }
        self.by_account.push((message.account.get(), id.as_i64()));
        let keys = [
            message.to.map(SearchKey::of_recipient),
            request.as_deref().map(SearchKey::of_request),
            key.as_ref().map(SearchKey::of_idempotency_key),
        ];
        for key in keys.into_iter().flatten() {
            self.add_key(id, key);
        }
        if self.is_watched {
            self.flushed.changed.push((message.clone(), pending.latest.clone()));
        }
        Ok(true)
    }

    /// Changes a message. Returns false if the record does not have it.
    fn change(&mut self, pending: &PendingMessage) -> Result<bool, TableError> {
        let Some(Found { mut message, first_carrier, steps }) = self.find(pending.id)? else {
            return Ok(false);
        };
        let has_ended = message.settled_at.is_some();
        let end = pending.end.filter(|_| !has_ended);
        let costs = pending.costs.as_ref().filter(|_| !has_ended);
        let has_news = pending.state.is_some() && !has_ended
            || pending.carrier.is_some()
            || costs.is_some()
            || end.is_some();
        let further = if has_ended { pending.steps_without_end() } else { Cow::Borrowed(&pending.steps[..]) };
        if !has_news && further.is_empty() {
            return Ok(true);
        }
        append_steps(&steps, &further, pending.last_ms, &mut self.steps);
        message.carrier = pending.carrier.unwrap_or(message.carrier);
        if let Some(costs) = costs {
            message.costs.apply(costs);
        }
        let other_first = (message.carrier != first_carrier).then(|| first_carrier.get());
        if pending.carrier.is_some() {
            self.flushed.counts.note_moved(&message);
        }
        let costs = costs_to_stored(&message.costs);
        if let Some(MessageEnd { state, code, err, refund, billable, at }) = end {
            (message.state, message.code, message.err) = (state, Some(code), err);
            (message.refund, message.settled_at) = (refund, Some(at));
            message.costs.billable = Some(billable);
            self.end.execute(params![
                message.id.as_i64(),
                message.carrier.get(),
                other_first,
                state.to_stored(),
                self.steps,
                code.as_u8(),
                err,
                settled_to_stored(message.id, at),
                refund.map(|refund| refund.as_micros()),
                costs.per_part,
                costs.terms,
                costs.earlier,
                billable.to_stored(),
            ])?;
            let how = (state, took(message.id, at), refund);
            self.flushed.counts.count_end(&message, first_carrier, how);
        } else {
            message.state = pending.state.filter(|_| !has_ended).unwrap_or(message.state);
            self.change.execute(params![
                message.id.as_i64(),
                message.carrier.get(),
                other_first,
                message.state.to_stored(),
                self.steps,
                costs.per_part,
                costs.terms,
                costs.earlier,
            ])?;
        }
        if self.is_watched {
            self.flushed.changed.push((message, pending.latest.clone()));
        }
        Ok(true)
    }

    fn find(&mut self, id: MessageId) -> Result<Option<Found>, TableError> {
        let read = |row: &crate::sql::Row<'_>| {
            let first: Option<u32> = row.get(MESSAGE_WIDTH)?;
            let steps = row.get_ref(MESSAGE_WIDTH + 1)?.as_blob()?.to_vec();
            Ok(read_message(row).map(|message| {
                let first_carrier = first.map_or(message.carrier, CarrierId::new);
                Found { message, first_carrier, steps }
            }))
        };
        self.find.query_row([id.as_i64()], read).optional()?.transpose()
    }

    fn add_key(&mut self, message: MessageId, SearchKey { kind, key }: SearchKey) {
        self.keys.push((kind as u8, self.chunk(), key, message.as_i64()));
    }

    /// Returns the chunk that keys are added to now.
    fn chunk(&self) -> i64 {
        (self.messages / MESSAGES_PER_CHUNK).cast_signed()
    }

    /// Writes the indexes, requests, counts and the position. Returns how many messages were ever added.
    fn finish(mut self, flush: &Flush<'_>) -> Result<(u64, Flushed), TableError> {
        self.by_account.sort_unstable();
        let mut insert = self
            .connection
            .prepare_cached("INSERT OR IGNORE INTO by_account (account, id) VALUES (?1, ?2)")?;
        for (account, id) in &self.by_account {
            insert.execute(params![account, id])?;
        }
        self.write_keys()?;
        for entry in flush.requests {
            request_log::add(self.connection, entry)?;
            self.flushed.counts.count_request(entry);
        }
        figures::append_counts(self.connection, &self.flushed.counts)?;
        put_position(self.connection, &flush.position, self.messages)?;
        Ok((self.messages, self.flushed))
    }

    fn write_keys(&mut self) -> Result<(), TableError> {
        self.keys.sort_unstable();
        let mut insert = self.connection.prepare_cached(
            "INSERT OR IGNORE INTO key (kind, chunk, key, message) VALUES (?1, ?2, ?3, ?4)",
        )?;
        let mut put_chunk = self.connection.prepare_cached(
            "INSERT INTO chunk (no, first, last) VALUES (?1, ?2, ?3)
             ON CONFLICT DO UPDATE SET first = min(first, excluded.first), last = max(last, excluded.last)",
        )?;
        // One flush reaches two chunks at most, as it has fewer messages than one.
        let mut chunks: Vec<(i64, i64, i64)> = Vec::new();
        for (kind, chunk, key, message) in &self.keys {
            insert.execute(params![kind, chunk, key, message])?;
            match chunks.iter_mut().find(|(no, ..)| no == chunk) {
                Some((_, first, last)) => (*first, *last) = ((*first).min(*message), (*last).max(*message)),
                None => chunks.push((*chunk, *message, *message)),
            }
        }
        for (no, first, last) in chunks {
            put_chunk.execute(params![no, first, last])?;
        }
        Ok(())
    }
}

/// Returns where the record is.
fn read_position(connection: &Connection) -> Result<RecordPosition, TableError> {
    let read = |row: &Row<'_>| {
        Ok(RecordPosition {
            sequence: row.get::<i64>(0)?.cast_unsigned(),
            walk_next: row.get(1)?,
            walk_end: row.get(2)?,
            recheck_next: row.get(3)?,
            recheck_end: row.get(4)?,
        })
    };
    let columns = "SELECT sequence, walk_next, walk_end, recheck_next, recheck_end FROM position";
    Ok(connection.query_row(columns, [], read)?)
}

/// Writes where the record is, and how many messages were ever added to it.
fn put_position(connection: &Connection, position: &RecordPosition, messages: u64) -> Result<(), TableError> {
    let RecordPosition { sequence, walk_next, walk_end, recheck_next, recheck_end } = position;
    connection
        .prepare_cached(
            "UPDATE position SET sequence = ?1, messages = ?2, walk_next = ?3, walk_end = ?4, recheck_next = ?5,
                 recheck_end = ?6",
        )?
        .execute(params![
            sequence.cast_signed(),
            messages.cast_signed(),
            walk_next,
            walk_end,
            recheck_next,
            recheck_end
        ])?;
    Ok(())
}
