//! Flags about who is let in.

use std::time::Duration;

use clap::Args;
use hermod_simulator::carrier::Script;
use hermod_smpp::CommandStatus;

use crate::values;

#[derive(Args)]
#[command(next_help_heading = "Binds")]
pub(super) struct BindFlags {
    /// Let in only this system_id (with --password)
    #[arg(long, requires = "password")]
    system_id: Option<String>,
    /// The password that goes with it
    #[arg(long, requires = "system_id")]
    password: Option<String>,
    /// Refuse the first N binds with --bind-status
    #[arg(long, value_name = "N")]
    refuse_binds: Option<u64>,
    /// What refused binds are told
    #[arg(long, default_value = "0x0d", value_parser = values::status)]
    bind_status: CommandStatus,
    /// Refuse (0x05) more than N links of one system_id
    #[arg(long, value_name = "N")]
    binds_max: Option<usize>,
    /// Take a link that was lost without an unbind for bound this long: others get 0x05
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    already_bound_for: Option<Duration>,
}

impl BindFlags {
    pub(super) fn write(&self, mut script: Script) -> Script {
        if let Some(count) = self.refuse_binds {
            script = script.reject_binds(count, self.bind_status);
        }
        if let (Some(system_id), Some(password)) = (&self.system_id, &self.password) {
            script = script.credentials(system_id, password);
        }
        if let Some(links) = self.binds_max {
            script = script.binds_max(links);
        }
        if let Some(time) = self.already_bound_for {
            script = script.already_bound_for(time);
        }
        script
    }
}
