//! Early exit: one contract for every place that keeps sessions, and what is
//! particular to each.

mod cluster;
mod crowds;
mod directory;
mod elections;
mod expiry;
mod foreign;
mod leases;
mod places;
mod polls;
mod unanswered;

macro_rules! laws {
    ($place:ty) => {
        laws! { $place;
            elections::nobody_has_won_at_first,
            elections::the_first_wins_and_the_others_learn_its_name,
            elections::the_winner_itself_wins_only_once,
            elections::a_result_comes_with_the_signal,
            elections::a_result_may_come_before_the_signal_or_after,
            elections::a_loser_leaves_no_result_behind,
            elections::any_bytes_come_back,
            elections::sessions_are_listed_and_forgotten,
            elections::a_result_with_a_secret_is_refused_and_nobody_wins,
            leases::a_winner_without_a_result_makes_room_after_its_lease,
            leases::a_result_in_time_ends_the_lease,
            leases::a_late_result_counts_while_nobody_took_the_place,
            leases::a_late_result_is_not_the_new_winners,
            leases::without_a_lease_a_winner_stays,
            expiry::what_nobody_uses_is_forgotten,
            expiry::whoever_does_something_keeps_it_alive,
            polls::it_returns_as_soon_as_the_result_is_there,
            polls::it_waits_for_a_session_that_does_not_exist_yet,
            polls::its_time_is_exact,
            crowds::of_many_one_wins,
            crowds::whenever_somebody_looks_a_winner_has_its_name_and_result,
            crowds::an_expired_lease_has_one_successor,
        }
    };
    ($place:ty; $($topic:ident :: $law:ident,)*) => {
        $(#[test] fn $law() { crate::early_exit::$topic::$law::<$place>(); })*
    };
}

mod in_a_directory {
    laws!(crate::early_exit::places::Dir);
}

mod on_redis {
    laws!(crate::early_exit::places::OnRedis);
}

mod on_valkey {
    laws!(crate::early_exit::places::OnValkey);
}
