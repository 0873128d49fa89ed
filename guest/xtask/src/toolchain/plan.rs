//! Which tool chain is used, and what is tried to get one: decided from facts alone.

/// What is said where there is no way to build a guest.
pub(super) const GIVE_UP: &str = "to build guests, install the target wasm32-wasip2 (rustup target add \
     wasm32-wasip2) or, on Debian, the packages rustc-web, cargo-web, rust-web-src, rust-web-llvm, \
     wasi-libc and the newest lld-NN";

/// What the decision depends on.
#[derive(Clone, Copy)]
pub(super) struct Facts {
    /// The tool chain that runs this program has the target's libraries.
    pub(super) target: bool,
    /// Debian's tool chain is installed, with everything that a guest needs.
    pub(super) debian: bool,
    /// rustup is there, and has not failed to fetch the target.
    pub(super) rustup: bool,
    /// How packages can be installed; `None` if they cannot, or if it has been tried.
    pub(super) apt: Option<Privilege>,
}

/// The right by which packages are installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Privilege {
    /// The user is root.
    Root,
    /// sudo asks this user for no password.
    Sudo,
}

/// What to do next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Build with the tool chain that runs this program.
    UseOurs,
    /// Build with Debian's tool chain.
    UseDebian,
    /// Have rustup fetch the target, then look again.
    AskRustup,
    /// Have apt install Debian's tool chain, then look again.
    AskApt(Privilege),
    /// Say what to install.
    GiveUp,
}

/// What is there comes before what has to be fetched, so that only a first build needs a network; and
/// rustup comes before apt, since it changes the machine less.
pub(super) fn next(facts: Facts) -> Step {
    match facts {
        Facts { target: true, .. } => Step::UseOurs,
        Facts { debian: true, .. } => Step::UseDebian,
        Facts { rustup: true, .. } => Step::AskRustup,
        Facts { apt: Some(privilege), .. } => Step::AskApt(privilege),
        Facts { target: false, debian: false, rustup: false, apt: None } => Step::GiveUp,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Facts = Facts { target: false, debian: false, rustup: false, apt: None };

    #[test]
    fn the_installed_target_comes_first() {
        let everything =
            Facts { target: true, debian: true, rustup: true, apt: Some(Privilege::Root) };
        assert_eq!(next(everything), Step::UseOurs);
        assert_eq!(next(Facts { target: true, ..NOTHING }), Step::UseOurs);
    }

    #[test]
    fn what_is_there_is_used_before_anything_is_fetched() {
        let facts = Facts { debian: true, rustup: true, apt: Some(Privilege::Root), ..NOTHING };
        assert_eq!(next(facts), Step::UseDebian);
    }

    #[test]
    fn rustup_is_asked_before_apt() {
        let facts = Facts { rustup: true, apt: Some(Privilege::Sudo), ..NOTHING };
        assert_eq!(next(facts), Step::AskRustup);
    }

    #[test]
    fn apt_is_asked_with_the_right_that_the_user_has() {
        for privilege in [Privilege::Root, Privilege::Sudo] {
            let facts = Facts { apt: Some(privilege), ..NOTHING };
            assert_eq!(next(facts), Step::AskApt(privilege));
        }
    }

    #[test]
    fn without_any_way_it_gives_up() {
        assert_eq!(next(NOTHING), Step::GiveUp);
    }
}
