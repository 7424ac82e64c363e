//! The contract of every store: one function for each law, run for each store.
//!
//! A new store needs a [`Factory`](stores::Factory), the traits that say what
//! more it can do, and its lines at the end of this file.

mod binary;
mod corruption;
mod counts;
mod crowds;
mod durability;
mod eviction;
mod full_results;
mod model;
mod nearest;
mod redis_tiers;
mod round_trips;
mod scans;
pub(crate) mod stores;
mod updates;

macro_rules! laws {
    ($factory:ty; $($topic:ident :: $law:ident,)*) => {
        $(#[test] fn $law() { crate::store_contract::$topic::$law::<$factory>(); })*
    };
}

/// What holds for every store.
macro_rules! every_law {
    ($factory:ty) => {
        laws! { $factory;
            round_trips::text_bodies_of_every_size_come_back,
            round_trips::every_field_of_the_head_comes_back,
            round_trips::a_body_that_arrives_in_small_chunks_comes_back,
            round_trips::a_stored_record_can_be_stored_again_under_another_id,
            round_trips::what_was_never_stored_is_absent,
            round_trips::a_body_that_fails_half_way_leaves_what_was_there,
            updates::overwriting_replaces_everything,
            updates::large_and_small_bodies_replace_each_other,
            updates::removing_counts_what_was_there,
            updates::removing_what_is_absent_is_no_error,
            updates::clearing_removes_one_scope_and_names_what_went,
            updates::touching_changes_hits_and_last_use_alone,
            updates::last_use_never_moves_back,
            updates::touching_what_is_absent_creates_nothing,
            updates::the_same_key_in_four_scopes_is_four_entries,
            scans::a_scan_filters_by_scope_and_kind,
            scans::a_scan_stops_when_told,
            scans::the_newest_come_first_and_no_more_than_asked_for,
            scans::a_scan_filters_by_key_use_and_marks,
            scans::a_scan_of_ten_thousand_shows_each_once,
            scans::a_scan_shows_the_heads_as_stored,
            scans::a_scan_lets_the_visitor_use_the_store,
            scans::an_empty_store_has_nothing_to_show,
            eviction::nothing_goes_while_all_is_within_limits,
            eviction::the_dead_go_first_and_may_be_enough,
            eviction::what_went_is_named_with_its_kind_and_cause,
            eviction::an_entry_is_dead_from_its_last_moment_on,
            eviction::then_the_least_recently_used_go_by_count,
            eviction::a_touched_entry_outlives_a_newer_one,
            eviction::other_scopes_and_kinds_neither_count_nor_go,
            eviction::the_dead_go_in_every_scope,
            eviction::more_than_a_batch_can_go_at_once,
            eviction::a_replaced_entry_counts_once_with_its_new_size,
            counts::a_batch_counts_once_however_often_it_is_told,
            counts::everything_that_happens_is_counted_by_scope_kind_and_day,
            counts::what_hits_saved_is_summed_up_by_name,
            counts::counts_of_all_scopes_can_be_asked_for_at_once,
            counts::counts_of_long_ago_go,
            counts::nothing_told_is_nothing_counted,
            counts::counts_outlive_their_entries,
            counts::what_was_found_damaged_goes,
            counts::what_was_stored_anew_since_it_was_found_damaged_stays,
            counts::other_happenings_change_no_record,
            counts::usage_is_counted_for_each_scope,
            nearest::what_has_most_in_common_is_nearest,
            nearest::other_scopes_and_kinds_are_not_near,
            nearest::of_many_that_are_alike_the_youngest_are_shown,
            full_results::full_results_of_every_size_come_back,
            full_results::a_shared_full_result_goes_with_the_last_that_has_it,
            full_results::overwriting_replaces_the_full_result,
            full_results::storing_the_same_again_keeps_the_full_result,
            full_results::full_results_go_with_the_dead,
            full_results::full_results_are_not_shared_across_scopes,
            crowds::every_read_is_one_whole_value,
            crowds::large_bodies_are_never_mixed,
            crowds::hits_of_all_threads_are_counted,
            crowds::the_first_writers_all_succeed,
            model::it_agrees_with_a_map,
        }
    };
}

/// What holds where the store itself keeps to a limit in bytes.
macro_rules! byte_limit_laws {
    ($factory:ty) => {
        laws! { $factory;
            eviction::the_least_recently_used_go_by_bytes,
            full_results::full_results_count_for_limits_and_go_by_eviction,
        }
    };
}

/// What holds where names are counted for each day: the server counts them for all.
macro_rules! naming_laws {
    ($factory:ty) => {
        laws! { $factory; counts::very_many_names_are_the_others, }
    };
}

/// What holds where any bytes are taken.
macro_rules! binary_laws {
    ($factory:ty) => {
        laws! { $factory;
            binary::incompressible_bodies_of_every_size_come_back,
            binary::every_byte_value_comes_back,
        }
    };
}

/// What holds where a full result is kept once for all that share it.
macro_rules! sharing_laws {
    ($factory:ty) => {
        laws! { $factory; full_results::a_shared_full_result_is_counted_once, }
    };
}

/// What holds where records outlive the process.
macro_rules! durable_laws {
    ($factory:ty) => {
        laws! { $factory;
            durability::everything_is_there_after_reopening,
            durability::a_removal_is_still_done_after_reopening,
            durability::two_open_stores_see_each_others_writes,
            durability::the_first_of_many_openers_all_succeed,
        }
    };
}

/// What holds where the medium can be changed behind the store's back.
macro_rules! damage_laws {
    ($factory:ty) => {
        laws! { $factory;
            corruption::a_changed_body_is_never_served,
            corruption::a_cut_body_is_never_served,
            corruption::a_changed_large_body_is_never_served,
            corruption::a_cut_large_body_is_never_served,
            corruption::a_broken_header_is_reported_and_harms_no_other,
            corruption::a_damaged_entry_can_be_replaced,
            corruption::a_damaged_entry_can_be_removed,
        }
    };
}

mod memory {
    every_law!(super::stores::InMemory);
    byte_limit_laws!(super::stores::InMemory);
    naming_laws!(super::stores::InMemory);
    binary_laws!(super::stores::InMemory);
}

mod sqlite {
    every_law!(super::stores::InSqlite);
    byte_limit_laws!(super::stores::InSqlite);
    naming_laws!(super::stores::InSqlite);
    binary_laws!(super::stores::InSqlite);
    sharing_laws!(super::stores::InSqlite);
    durable_laws!(super::stores::InSqlite);
    damage_laws!(super::stores::InSqlite);
}

mod redis {
    type InRedis = super::stores::InRedis<super::stores::OnRedis>;
    every_law!(InRedis);
    binary_laws!(InRedis);
    durable_laws!(InRedis);
    damage_laws!(InRedis);
}

mod valkey {
    type InValkey = super::stores::InRedis<super::stores::OnValkey>;
    every_law!(InValkey);
    durable_laws!(InValkey);
}

mod redis_cluster {
    type InCluster = super::stores::InRedis<super::stores::OnCluster>;
    every_law!(InCluster);
    binary_laws!(InCluster);
    durable_laws!(InCluster);
}

mod tiered {
    every_law!(super::stores::InTiers);
    byte_limit_laws!(super::stores::InTiers);
    binary_laws!(super::stores::InTiers);
    sharing_laws!(super::stores::InTiers);
    durable_laws!(super::stores::InTiers);
    damage_laws!(super::stores::InTiers);
}

mod file {
    every_law!(super::stores::InFiles);
    byte_limit_laws!(super::stores::InFiles);
    naming_laws!(super::stores::InFiles);
    durable_laws!(super::stores::InFiles);
    damage_laws!(super::stores::InFiles);
}

mod directory {
    every_law!(super::stores::InDirectory);
    byte_limit_laws!(super::stores::InDirectory);
    naming_laws!(super::stores::InDirectory);
    sharing_laws!(super::stores::InDirectory);
    durable_laws!(super::stores::InDirectory);
    damage_laws!(super::stores::InDirectory);
}

mod sqlite_over_redis {
    every_law!(super::redis_tiers::SqliteOverRedis);
    binary_laws!(super::redis_tiers::SqliteOverRedis);
    durable_laws!(super::redis_tiers::SqliteOverRedis);
}
