//! Operations on opt-outs.

use crate::error::StoreError;
use crate::operations::OptOutStore;
use crate::sql::opt_outs;
use hermod_domain::ids::AccountId;
use hermod_domain::phone::Msisdn;
use hermod_engine::commands::OptIn;
use hermod_engine::tables::OptOut;

impl OptOutStore<'_> {
    /// Opts a number out of an account's messages. Returns false if it was opted out already; the earlier entry is kept.
    pub async fn add(self, entry: OptOut) -> Result<bool, StoreError> {
        self.0.request(entry).await
    }

    /// Opts a number in again. Returns false if it was not opted out.
    pub async fn remove(self, account: AccountId, number: Msisdn) -> Result<bool, StoreError> {
        self.0.request(OptIn { account, number }).await
    }

    /// Returns the opt-out entry of a number, if it is opted out.
    pub async fn find(self, account: AccountId, number: Msisdn) -> Result<Option<OptOut>, StoreError> {
        self.0.read(move |database| opt_outs::find_opt_out(database, account, number)).await
    }

    /// Returns an account's opt-outs in order of their numbers, after `after` or from the first.
    pub async fn list(
        self,
        account: AccountId,
        after: Option<Msisdn>,
        limit: u32,
    ) -> Result<Vec<OptOut>, StoreError> {
        self.0.read(move |database| opt_outs::read_opt_out_page(database, account, after, limit)).await
    }
}
