//! Who may see the data, who may create an account, and who may review firms.

use data::vocabulary::{Vocabulary, vocabulary};

vocabulary! {
    /// Access to everything except sign-in, health, static files and the texts that the law asks for. REST needs a key anyway.
    #[derive(Default)]
    Access, "access", {
        /// Anyone.
        #[default]
        Open = "open",
        /// Callers with an API key, and signed-in accounts.
        Key = "key",
        /// Signed-in accounts; API keys open REST, MCP and bulk files only.
        Accounts = "accounts",
    }
}

impl Access {
    /// True if strangers see nothing.
    pub fn is_private(self) -> bool {
        self != Self::Open
    }
}

vocabulary! {
    /// Who may create an account on the pages.
    #[derive(Default)]
    SignUp, "sign-up", {
        /// Anyone.
        #[default]
        Open = "open",
        /// Who has the link of an operator.
        Invite = "invite",
        /// Nobody; accounts come from commands of the operator.
        Off = "off",
    }
}

impl SignUp {
    /// The sentences for whoever cannot sign up.
    pub fn refusal(self) -> &'static str {
        match self {
            Self::Invite => {
                "Accounts of this service are by invitation: ask its operator for a link. If you have an account, sign in."
            }
            _ => "This service does not offer sign-up: its operator creates the accounts. If you have one, sign in.",
        }
    }
}

vocabulary! {
    /// Who may review firms on the pages and through the API. With `off`, nothing of it is seen.
    #[derive(Default)]
    ReviewAccess, "reviews", {
        #[default]
        Off = "off",
        /// Accounts that the operator has created or invited, and those with an address at the domain of a startup in the data.
        Invite = "invite",
        /// Every verified account.
        Open = "open",
    }
}
