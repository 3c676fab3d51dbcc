"""Every planted fault, and the tests that fail once it is planted. ``proofs/faults.py`` plants them one by one."""

from __future__ import annotations

from typing import NamedTuple

from tests.helpers import access_faults as access
from tests.helpers import client_faults as client
from tests.helpers import data_faults as data
from tests.helpers import draft_faults as drafts
from tests.helpers import invitation_faults as invited
from tests.helpers import issued_faults as issued
from tests.helpers import javascript_faults
from tests.helpers import protocol_faults as protocol
from tests.helpers import server_faults as server
from tests.helpers import token_faults as tokens
from tests.helpers import web_faults as web
from tests.helpers.javascript_faults import JavaScriptFault
from tests.helpers.planting import Planted

_VECTORS = "protocol/test_vectors.py"
_CHANNELS = "protocol/test_channels.py"
_JOINT = "protocol/test_joint_exactly.py"
_SECURITY = "server/test_security.py"
_VISITS = "server/test_visits.py"
_API = "server/test_api.py"
_PEOPLE = "server/test_people.py"
_EVENTS = "server/test_events.py"
_SQLITE = "server/test_sqlite.py"
_CONTRACT = "server/test_storage.py"
_INTAKE = "server/test_intake.py"
_DRAFTS = "server/test_drafts.py"
_PUBLISHING = "server/test_draft_publishing.py"
_CHANGES = "server/test_editing_changes.py"
_FIELDWORK = "server/test_fieldwork_page.py"
_GROUPS = "server/test_groups.py"
_SOURCES = "server/test_source_review.py"
_CLAIMS = "server/test_claims.py"
_COLLECTORS = "server/test_collectors.py"
_COMPUTING = "server/test_computing.py"
_BACKUPS = "server/test_backups.py"
_BLIND = "protocol/test_blind_signatures.py"
_ISSUING = "server/test_issuing.py"
_INVITED = "client/test_invited.py"
_INVITING = "server/test_invitations.py"
_LINKING = "system/test_linking.py::test_nobody_can_match_invitations_with_submissions"
_ENTITLED = "system/test_entitled.py::test_everybody_is_counted_once"

PROTOCOL: dict[Planted, tuple[str, ...]] = {
    protocol.favour_one_too_large: (_VECTORS,),
    protocol.exponential_a_trillionth_too_large: (_VECTORS,),
    protocol.predictable_generator: ("protocol/test_purity.py",),
    protocol.threshold_off_by_one: (f"{_CHANNELS}::test_chance_is_exact_over_every_word",),
    protocol.modulo_bias: (f"{_CHANNELS}::test_below_is_uniform_over_every_word",),
    protocol.off_by_one_band: (_VECTORS,),
    protocol.one_draw_used_twice: (_VECTORS,),
    protocol.wrong_subset_weight: (_VECTORS,),
    protocol.subset_that_may_have_the_answer_twice: (_VECTORS,),
    protocol.the_drawn_option_depends_on_the_answer: (_VECTORS,),
    protocol.table_off_by_one: (f"{_CHANNELS}::test_a_table_gives_each_report_its_weight_over_every_word",),
    protocol.any_channel_passes_verification: (_VECTORS,),
    protocol.any_order_is_canonical: (_VECTORS,),
    protocol.a_text_may_have_what_cannot_be_seen: (_VECTORS,),
    protocol.any_writing_is_canonical: (_VECTORS,),
    protocol.a_booklet_drawn_after_looking: (f"{_JOINT}::test_the_booklet_shows_nothing",),
    protocol.weights_ignored: (f"{_JOINT}::test_the_booklet_shows_nothing",),
    protocol.a_booklet_more_often_than_its_weight: (f"{_JOINT}::test_the_booklet_shows_nothing",),
    protocol.a_booklet_drawn_again_at_submit: (_VECTORS,),
    protocol.reports_in_the_reverse_order: (_VECTORS,),
    protocol.a_path_off_by_one: (f"{_JOINT}::test_shares_are_unbiased",),
    protocol.a_hidden_answer_that_leaks: ("protocol/test_parts.py",),
    protocol.a_hidden_answer_that_is_kept: (f"{_JOINT}::test_what_is_not_shown_leaves_no_trace",),
    protocol.paths_with_the_first_item_fastest: (_VECTORS,),
    protocol.shown_only_if_all_options_are_chosen: (_VECTORS,),
    protocol.an_options_bit_from_another_option: (f"{_JOINT}::test_shares_are_unbiased",),
    protocol.the_sum_over_a_booklet_not_checked: (_VECTORS,),
    protocol.the_epsilon_of_a_part_not_checked: (_VECTORS,),
    protocol.a_question_twice_in_a_booklet: (_VECTORS,),
    protocol.epsilons_added_as_doubles: (_VECTORS,),
    protocol.a_follow_up_without_its_question: (_VECTORS,),
    protocol.an_answer_in_an_error_message: ("client/test_randomize.py",),
    protocol.true_counts_as_a_number: (_VECTORS,),
    protocol.numbers_always_rounded_down: (_VECTORS,),
    protocol.decoding_with_another_favour: (_VECTORS,),
}

CLIENT: dict[Planted, tuple[str, ...]] = {
    client.a_response_of_any_size: ("client/test_transport.py::test_a_long_response_is_cut_at_the_cap",),
    client.submission_ids_of_32_bits: (_VECTORS,),
    client.the_state_is_not_synced: ("client/test_state_file.py::test_what_is_written_is_on_disk",),
    client.a_state_file_of_0_bytes_is_a_new_ledger: (
        "client/test_state_file.py::test_a_file_that_cannot_be_trusted_is_refused",
    ),
    client.damage_to_the_ledger_is_not_noticed: (
        "client/test_state_file.py::test_a_damaged_state_is_never_a_new_ledger",
        "client/test_state_file.py::test_a_state_that_is_damaged_while_it_is_used_is_refused",
    ),
    client.an_outbox_that_never_expires: ("client/test_delivery.py",),
    client.a_remote_http_address_is_taken: ("client/test_address.py",),
    client.delta_left_out_of_the_budget: ("client/test_submit.py::test_the_budget_counts_delta",),
    client.what_is_forgotten_stays_in_the_state: ("client/test_forget.py",),
    client.a_state_that_everybody_can_read: ("client/test_state_file.py::test_only_the_owner_can_read_it",),
    client.the_client_follows_redirects: ("client/test_transport.py::test_redirects_are_not_followed",),
    client.the_client_keeps_cookies: ("client/test_transport.py::test_cookies_are_not_kept",),
    client.any_certificate_will_do: ("client/test_transport.py::test_a_survey_over_tls",),
    client.the_client_says_who_it_is: ("client/test_submit.py::test_requests_identify_nobody",),
    client.another_document_than_the_link_promised: ("client/test_loading.py::test_a_pinned_digest_is_kept",),
    client.a_changed_document_is_believed: ("client/test_loading.py::test_a_changed_document_is_refused",),
    client.a_device_draws_at_every_start: ("client/test_booklets.py::test_a_device_keeps_its_booklet",),
    client.answers_are_kept_on_disk: (
        "client/test_submit.py::test_only_documents_booklets_and_submissions_are_written",
    ),
}

ACCESS: dict[Planted, tuple[str, ...]] = {
    access.a_token_is_valid_a_day_longer: (_VISITS,),
    access.a_reader_compares_with_any_survey: (f"{_VISITS}::test_a_reader_compares_with_no_other_survey",),
    access.a_batch_without_a_collectors_token_is_taken: (
        f"{_COLLECTORS}::test_without_a_token_a_request_holds_one_submission",
    ),
    access.the_rate_limit_counts_requests: (f"{_COLLECTORS}::test_the_rate_limit_counts_submissions",),
    access.results_are_computed_where_others_answer: (
        f"{_COMPUTING}::test_everything_that_takes_time_is_computed_apart",
    ),
    access.any_number_of_readers_wait: (f"{_COMPUTING}::test_only_so_many_readers_wait",),
    access.a_computation_goes_on_without_end: (f"{_COMPUTING}::test_a_computation_that_takes_too_long_is_stopped",),
    access.a_link_is_revoked_from_another_survey: (f"{_VISITS}::test_a_link_can_only_be_revoked_where_it_belongs",),
    access.wrong_links_are_not_counted: (_VISITS,),
    access.signing_in_again_keeps_the_session: (f"{_VISITS}::test_signing_in_again_gives_another_session",),
    access.sessions_of_others_are_listed: (f"{_SECURITY}::test_other_sessions_can_be_seen_and_ended",),
    access.the_word_of_a_form_is_the_same_for_all: (_VISITS,),
    web.a_permission_for_one_origin_is_cached_for_others: (f"{_API}::test_only_named_origins",),
    web.a_cookie_for_respondents: (f"{_CLAIMS}::test_nothing_marks_a_respondent",),
    web.a_tag_for_every_visitor: (f"{_CLAIMS}::test_nothing_marks_a_respondent",),
    web.the_server_listens_everywhere: (f"{_CLAIMS}::test_what_nobody_sets_is_safe",),
    web.groups_of_one_are_shown_by_default: (f"{_CLAIMS}::test_what_nobody_sets_is_safe",),
    web.a_secret_key_of_128_bits: ("server/test_operating.py::test_the_secret_key_is_made_once_and_kept",),
    web.a_short_secret_key_is_taken: ("server/test_operating.py::test_the_secret_key_is_made_once_and_kept",),
    access.access_tokens_of_32_bits: (f"{_CLAIMS}::test_a_token_has_256_random_bits",),
    access.access_tokens_kept_as_they_are: (f"{_API}::test_tokens_are_kept_as_digests",),
    access.expired_tokens_are_let_in: (f"{_CONTRACT}",),
    access.a_token_ends_a_day_early: (f"{_CONTRACT}",),
    access.what_a_revoked_token_made_stays: (f"{_VISITS}::test_a_link_goes_with_its_maker",),
    access.a_link_outlives_its_makers_token: (f"{_SECURITY}::test_a_link_holds_no_longer_than_its_makers_token",),
    access.a_new_database_lets_an_admin_in: (f"{_SECURITY}::test_a_new_database_lets_nobody_in",),
    access.a_reader_reads_every_survey: (f"{_VISITS}::test_each_role_sees_its_pages",),
    access.a_role_on_one_survey_counts_on_others: (f"{_PEOPLE}::test_a_role_on_a_survey_is_the_role_there",),
    access.links_outlive_the_role_of_their_maker: (f"{_CONTRACT}::test_a_role_on_a_survey_changes_by_itself",),
    access.a_token_for_some_surveys_opens_others: (f"{_PEOPLE}::test_a_token_for_one_survey_opens_nothing_of_another",),
    access.an_analyst_reads_drafts_through_their_test_runs: (
        f"{_PEOPLE}::test_a_test_run_is_for_those_who_may_edit_its_draft",
    ),
    access.lists_name_surveys_of_others: (f"{_PEOPLE}::test_a_token_for_one_survey_opens_nothing_of_another",),
    access.a_survey_is_given_to_links: (f"{_CONTRACT}::test_access_is_given_and_withdrawn",),
    access.links_outlive_the_access_of_their_maker: (f"{_CONTRACT}::test_links_end_with_the_access_of_their_maker",),
    access.an_analyst_may_do_what_admins_may: (f"{_API}::test_an_analyst_may_not_publish_or_close",),
    access.a_reader_may_do_what_analysts_may: (f"{_VISITS}::test_each_role_sees_its_pages",),
    access.a_session_changes_things_by_the_interface_for_programs: (
        f"{_VISITS}::test_a_session_reads_and_changes_nothing_by_the_interface_for_programs",
    ),
    access.a_page_for_those_who_lost_their_token: (
        f"{_SECURITY}::test_a_stranger_gets_what_respondents_need_and_nothing_else",
    ),
    access.any_token_opens_as_a_shared_link: (f"{_CLAIMS}::test_only_a_readers_token_opens_as_a_link",),
    access.a_shared_link_opens_without_a_button: (
        f"{_VISITS}::test_a_shared_link_lets_anyone_read_until_it_is_revoked",
    ),
    access.sessions_of_32_bits: (f"{_CLAIMS}::test_a_session_has_256_random_bits",),
    access.a_session_that_nobody_uses_goes_on: (f"{_SECURITY}::test_a_session_ends_two_hours_after_its_last_page",),
    access.a_session_of_a_week: (f"{_SECURITY}::test_a_session_ends_two_hours_after_its_last_page",),
    access.a_page_that_refreshes_keeps_a_session_alive: (
        f"{_SECURITY}::test_a_page_that_follows_by_itself_keeps_no_session_alive",
    ),
    access.signing_out_ends_nothing_on_the_server: (f"{_VISITS}::test_a_session_ends_at_sign_out",),
    access.any_number_of_sessions: (f"{_SECURITY}::test_a_token_cannot_fill_the_table_of_sessions",),
    access.sessions_are_ended_without_the_token: (f"{_SECURITY}::test_other_sessions_can_be_seen_and_ended",),
    access.a_cookie_that_scripts_can_read: (f"{_VISITS}::test_the_cookie_is_for_this_server_only",),
    access.a_cookie_for_other_sites: (f"{_VISITS}::test_the_cookie_is_for_this_server_only",),
    access.a_cookie_without_tls: (f"{_VISITS}::test_the_cookie_is_for_this_server_only",),
    access.words_of_forms_compared_with_equals: (f"{_CLAIMS}::test_words_of_forms_are_compared_in_constant_time",),
    access.a_form_needs_no_word: (f"{_SECURITY}::test_every_form_has_to_be_ours",),
    access.a_form_may_come_from_another_site: (f"{_VISITS}::test_a_forged_form_changes_nothing",),
    access.signing_in_leads_elsewhere: (f"{_VISITS}::test_signing_in_leads_nowhere_else",),
    access.wrong_tokens_are_not_counted: (
        f"{_SECURITY}::test_wrong_tokens_in_headers_are_limited",
        f"{_VISITS}::test_wrong_attempts_are_limited",
    ),
    access.no_rate_limit: (f"{_API}::test_the_rate_limit",),
    access.each_address_of_a_household_counts_alone: (f"{_API}::test_the_rate_limit",),
    access.addresses_are_never_forgotten: (f"{_API}::test_a_window_forgets_its_addresses",),
    access.bodies_of_any_size: (f"{_API}::test_a_large_body_is_refused_before_it_is_read",),
    web.a_policy_that_allows_inline_scripts: (f"{_SECURITY}::test_whatever_is_sent_says_how_to_treat_it",),
    web.pages_may_be_framed: (f"{_SECURITY}::test_whatever_is_sent_says_how_to_treat_it",),
    web.documents_may_be_guessed_to_be_pages: (f"{_SECURITY}::test_whatever_is_sent_says_how_to_treat_it",),
    web.results_may_be_kept_by_browsers: (f"{_SECURITY}::test_whatever_is_sent_says_how_to_treat_it",),
    web.errors_leave_without_headers: (f"{_SECURITY}::test_whatever_is_sent_says_how_to_treat_it",),
    web.tls_is_asked_for_a_minute: (f"{_SECURITY}::test_tls_is_to_stay",),
    web.other_origins_read_results: (f"{_API}::test_other_origins_may_not_use_the_rest",),
    web.other_origins_send_cookies: (f"{_API}::test_pages_of_this_machine_may_use_what_respondents_use",),
    web.every_origin_is_a_named_one: (f"{_API}::test_only_named_origins",),
    web.a_visitor_names_the_host: (f"{_VISITS}::test_links_name_the_host_that_was_asked",),
    web.every_visitor_is_taken_for_a_proxy: (f"{_API}::test_a_forwarded_address_counts_only_behind_a_trusted_proxy",),
    web.a_header_with_underscores_passes_for_another: (
        "system/test_gateway.py::test_the_request_reaches_the_app_as_it_was",
    ),
    web.sources_of_the_server_are_served: (f"{_CLAIMS}::test_sources_are_not_served",),
}

DATA: dict[Planted, tuple[str, ...]] = {
    data.what_is_held_back_is_exported: (f"{_CLAIMS}::test_what_is_held_back_is_not_exported",),
    data.weights_single_out_a_small_group: (f"{_GROUPS}::test_numbers_about_everyone_need_large_margins_only",),
    data.another_survey_of_the_same_id_is_no_error: (_CONTRACT,),
    data.reports_that_no_channel_gives_are_taken: (f"{_INTAKE}::test_reports_are_those_of_the_booklet",),
    data.a_submission_to_another_document_is_taken: (f"{_API}::test_the_wrong_digest_and_a_closed_survey",),
    data.the_quick_way_takes_a_key_twice: (f"{_INTAKE}::test_a_repeated_key_is_refused_wherever_it_stands",),
    data.the_careful_way_takes_a_key_twice: (f"{_INTAKE}::test_a_repeated_key_is_refused_wherever_it_stands",),
    data.a_batch_of_any_size: (f"{_INTAKE}::test_a_batch_is_limited",),
    data.a_closed_survey_takes_submissions: (_CONTRACT,),
    data.half_a_batch_is_stored: (_CONTRACT,),
    data.an_uploaded_survey_of_any_size: ("server/test_dashboard.py::test_files_of_other_makes",),
    data.a_batch_is_sealed_in_order_of_arrival: (f"{_CLAIMS}::test_a_batch_leaves_no_order_of_arrival",),
    data.a_single_submission_is_folded_alone: (f"{_SQLITE}::test_servers_together_fold_no_fewer_than_the_threshold",),
    data.deleted_rows_stay_in_the_file: (f"{_SQLITE}::test_folding_leaves_no_trace_of_the_inbox",),
    data.closing_leaves_the_order_of_folding: (f"{_CLAIMS}::test_a_closed_survey_has_no_order_of_folding",),
    data.a_survey_is_closed_while_the_log_has_its_order: (f"{_SQLITE}::test_closing_waits_for_downloads",),
    data.the_log_says_when_the_last_one_answered: (
        f"{_CONTRACT}::test_the_log_does_not_say_when_the_last_one_answered",
    ),
    data.submissions_are_counted_by_the_minute: (_CONTRACT,),
    data.a_database_that_everybody_can_read: (f"{_SQLITE}::test_only_its_owner_can_open_the_database",),
    data.a_backup_that_everybody_can_read: (f"{_SQLITE}::test_backup_and_restore",),
    data.a_backup_is_made_where_others_can_exchange_it: (
        f"{_BACKUPS}::test_nobody_else_can_open_or_exchange_a_backup",
    ),
    data.a_backups_tag_is_not_compared: (
        f"{_BACKUPS}::test_an_altered_backup_is_refused",
        f"{_BACKUPS}::test_only_the_key_it_was_made_with_opens_a_backup",
    ),
    data.a_bare_copy_is_restored: (f"{_BACKUPS}::test_a_bare_copy_of_a_database_in_use_is_refused",),
    data.a_secret_key_that_everybody_can_read: ("server/test_operating.py::test_the_secret_key_is_made_once_and_kept",),
    data.an_export_that_everybody_can_read: ("server/test_export.py::test_only_the_owner_can_read_it",),
    data.a_damaged_backup_is_restored: (f"{_SQLITE}::test_a_damaged_backup_is_not_restored",),
    data.a_restore_overwrites_a_database: (f"{_SQLITE}::test_nothing_is_ever_overwritten",),
    data.a_database_of_a_newer_version_is_opened: (f"{_SQLITE}::test_a_database_of_a_newer_version_is_refused",),
    data.connections_are_left_open: (f"{_CLAIMS}::test_a_closed_storage_has_no_file_open",),
    data.ready_whatever_the_database_says: (f"{_CLAIMS}::test_a_server_without_its_database_is_not_ready",),
    data.small_groups_are_shown: (f"{_GROUPS}::test_no_sum_or_difference_of_shown_groups_is_small",),
    data.the_rest_is_left_for_subtraction: (f"{_GROUPS}::test_no_sum_or_difference_of_shown_groups_is_small",),
    data.small_combinations_are_shown: (f"{_GROUPS}::test_one_small_combination_withholds_the_two_segments",),
    data.a_source_that_is_left_out_is_counted: (
        "server/test_sources.py::test_without_a_source_it_is_as_if_it_had_sent_nothing",
    ),
    data.leaving_a_source_out_shows_small_groups: ("server/test_sources.py::test_what_cannot_be_left_out",),
    data.any_number_of_combinations: (
        "server/test_sources.py::test_a_survey_may_not_be_divided_too_finely",
        "server/test_sources.py::test_more_questions_leave_room_for_fewer_combinations",
    ),
    data.a_merged_code_is_shown_alone: (f"{_GROUPS}::test_a_merged_code_is_not_shown_alone",),
    data.weights_that_leave_too_few_are_shown: ("server/test_results.py::test_small_groups_are_merged_and_withheld",),
    data.results_that_are_held_back_are_shown: (f"{_API}::test_results_that_are_held_back",),
    data.as_many_that_wait_are_the_same_ones: (_CONTRACT,),
    data.ids_in_the_reports: (f"{_API}::test_the_list_and_the_downloads",),
    data.an_export_in_the_order_of_ids: ("server/test_export.py::test_neither_ids_nor_arrival_can_be_read_from_it",),
    data.a_text_becomes_a_formula: ("server/test_dashboard.py::test_no_text_of_a_survey_is_a_formula",),
    data.a_formula_after_a_tab_or_a_return: (f"{_CLAIMS}::test_no_cell_of_a_table_is_a_formula",),
    data.pages_escape_nothing: (f"{_CLAIMS}::test_pages_escape_what_a_survey_says",),
    data.an_error_repeats_what_was_sent: (f"{_API}::test_an_error_never_repeats_what_was_sent",),
    data.a_bug_says_what_happened_inside: (f"{_API}::test_a_bug_is_a_500_that_says_nothing",),
    data.a_bug_is_logged_with_its_text: (f"{_API}::test_a_bug_is_a_500_that_says_nothing",),
    data.activity_notes_what_collectors_do: (f"{_PEOPLE}::test_activity_has_nothing_of_respondents",),
    data.labels_of_tokens_in_the_log: (f"{_EVENTS}::test_what_people_with_tokens_do_is_logged",),
    data.addresses_in_the_log: (f"{_EVENTS}::test_what_is_refused_is_logged_without_who_it_was",),
    data.lines_of_the_log_can_be_forged: (f"{_EVENTS}::test_no_line_can_be_forged",),
    data.a_line_for_every_submission: (f"{_EVENTS}::test_respondents_make_no_line",),
    data.refusals_fill_the_disk: (f"{_EVENTS}::test_refusals_do_not_fill_the_disk",),
    data.every_failed_write_is_logged: (f"{_SQLITE}::test_a_full_or_read_only_disk",),
    data.trouble_is_logged_an_hour_after_it_began: ("server/test_trouble_log.py::test_lines_come_at_full_hours",),
    data.metrics_by_address: (f"{_API}::test_metrics_count_and_identify_nobody",),
    data.metrics_say_when_the_first_came: (f"{_API}::test_metrics_count_and_identify_nobody",),
    data.a_query_put_together_from_text: (f"{_SOURCES}::test_queries_have_their_values_apart",),
    data.a_token_in_the_text_of_a_query: (f"{_CLAIMS}::test_no_statement_has_a_value_in_it",),
    data.a_survey_in_the_text_of_a_query: (f"{_CLAIMS}::test_no_statement_has_a_value_in_it",),
    data.a_text_is_run_as_a_program: (f"{_SOURCES}::test_no_text_becomes_a_program",),
    data.the_server_calls_an_address: (f"{_SOURCES}::test_the_server_calls_nobody",),
    data.a_digest_of_md5: (f"{_SOURCES}::test_one_hash_and_one_random_source",),
    data.a_template_takes_text_for_markup: (f"{_SOURCES}::test_templates_escape_everything",),
    data.a_script_of_a_page_writes_markup: (f"{_SOURCES}::test_scripts_of_pages_write_text_only",),
    data.test_code_in_a_package: (f"{_SOURCES}::test_no_test_code_is_shipped",),
    data.a_package_that_is_not_pinned: ("server/test_dependencies.py",),
}

DRAFTS: dict[Planted, tuple[str, ...]] = {
    drafts.conflicts_are_overwritten: (
        f"{_CHANGES}::test_what_somebody_else_wrote_is_not_overwritten",
        f"{_DRAFTS}::test_a_conflict_is_answered_and_nothing_is_overwritten",
    ),
    drafts.a_change_sent_twice_counts_twice: (
        f"{_CHANGES}::test_a_change_that_is_sent_twice_counts_once",
        f"{_DRAFTS}::test_a_change_is_saved_and_answered",
    ),
    drafts.answers_that_move_are_others: (f"{_CHANGES}::test_lines_that_move_keep_what_they_are",),
    drafts.a_later_version_is_overwritten: (
        _CONTRACT,
        f"{_DRAFTS}::test_twenty_who_write_at_once_lose_nothing",
    ),
    drafts.faults_in_the_words_of_a_file: ("server/test_editing_faults.py",),
    drafts.editors_of_some_surveys_see_all_drafts: (
        f"{_PEOPLE}::test_drafts_are_for_those_who_may_see_them",
        f"{_DRAFTS}::test_an_editor_of_some_surveys_sees_own_drafts_only",
    ),
    drafts.what_nobody_looked_at_is_published: (f"{_PUBLISHING}::test_what_was_not_looked_at_is_not_published",),
    drafts.a_file_replaces_what_others_wrote: (
        f"{_PUBLISHING}::test_a_file_does_not_replace_what_somebody_else_changed",
    ),
    drafts.a_test_run_outlives_its_draft: (f"{_PUBLISHING}::test_publishing_ends_at_what_to_send",),
    drafts.a_draft_is_published_twice: (f"{_PUBLISHING}::test_two_clicks_publish_one_survey",),
    drafts.a_closed_survey_gets_new_times: (f"{_FIELDWORK}::test_a_closed_survey_stays_closed",),
    drafts.any_name_deletes_a_survey: (f"{_FIELDWORK}::test_another_name_deletes_nothing",),
}

TOKENS: dict[Planted, tuple[str, ...]] = {
    tokens.tokens_are_not_blinded: (_VECTORS, f"{_BLIND}::test_the_blinding_factor_is_uniform", _LINKING),
    tokens.all_have_the_same_blinding_factor: (_VECTORS, f"{_BLIND}::test_the_blinding_factor_is_uniform", _LINKING),
    tokens.a_blinding_factor_with_a_bias: (f"{_BLIND}::test_the_blinding_factor_is_uniform",),
    tokens.a_signature_is_not_verified_by_the_device: (
        _VECTORS,
        f"{_BLIND}::test_a_wrong_signature_is_never_given_out",
    ),
    tokens.a_signature_may_be_above_the_modulus: (_VECTORS,),
    tokens.a_signature_without_salt_is_taken: (
        _VECTORS,
        f"{_ISSUING}::test_we_accept_what_another_implementation_signs",
    ),
    tokens.any_base64_is_taken: (_VECTORS,),
    tokens.the_issuer_does_not_hide_what_it_signs: (
        f"{_ISSUING}::test_the_secret_exponents_never_meet_a_chosen_number",
    ),
    tokens.a_signature_that_came_out_wrong_is_sent: (f"{_ISSUING}::test_a_fault_reveals_nothing",),
    invited.any_token_is_taken: (_VECTORS,),
    invited.an_issuer_where_nobody_is_invited: (_VECTORS,),
    invited.typing_errors_are_sent: ("protocol/test_invitation_codes.py::test_typing_errors_are_found",),
    invited.another_drawing_for_every_attempt: (f"{_INVITED}::test_processes_that_open_at_once_get_one_token",),
    invited.sent_before_it_is_kept: (f"{_INVITED}::test_a_crash_between_any_two_steps",),
    invited.a_code_that_stays_on_the_device: (f"{_INVITED}::test_an_invitation_is_forgotten_once_the_token_is_there",),
    invited.a_submission_does_not_wait: (f"{_INVITED}::test_a_submission_waits_for_a_random_time",),
    issued.an_invitation_is_never_used_up: (
        _CONTRACT,
        f"{_INVITING}::test_an_invitation_gives_one_token",
    ),
    issued.a_retry_uses_an_invitation_again: (
        _CONTRACT,
        f"{_INVITING}::test_an_invitation_gives_one_token",
    ),
    issued.signed_before_it_is_on_disk: (_CONTRACT,),
    issued.the_use_is_written_after_signing: (_CONTRACT, f"{_ENTITLED}_on_sqlite"),
    issued.one_can_take_the_use_of_another: (_CONTRACT,),
    issued.an_id_need_not_follow_from_the_token: (
        f"{_INVITING}::test_a_token_that_may_not_be_spent_is_refused",
        f"{_ENTITLED}_on_sqlite",
    ),
    issued.other_words_for_other_reasons: (f"{_INVITING}::test_codes_that_are_not_valid_get_the_same_answer",),
    issued.a_copy_forgets_which_uses_are_taken: ("system/test_move.py::test_everything_arrives",),
    issued.codes_are_stored_as_they_are: (
        "server/test_invitation_command.py::test_links_are_printed_once_and_only_digests_are_kept",
    ),
    issued.asking_for_tokens_is_not_limited: (f"{_INVITING}::test_asking_is_limited_without_any_setting",),
}

STORAGE: dict[Planted, tuple[str, ...]] = {
    server.folding_drops_a_row: (_CONTRACT,),
    server.forgets_what_is_sealed: (_CONTRACT,),
    server.the_last_of_one_id_wins: (_CONTRACT,),
    server.other_contents_pass_for_duplicates: (_CONTRACT,),
    server.a_closed_survey_knows_nothing: (_CONTRACT,),
    server.every_retry_is_another: (f"{_API}::test_a_submission_and_its_retry",),
    server.acknowledges_failed_commits: (f"{_SQLITE}::test_a_full_or_read_only_disk",),
    server.syncs_never: (f"{_SQLITE}::test_every_connection_is_durable",),
    server.syncs_only_at_checkpoints: (f"{_SQLITE}::test_every_connection_is_durable",),
}
"""Faults that the proofs under crashes and power cuts find, too."""


class Caught(NamedTuple):
    """A fault in Python, and the tests that are to catch it."""

    planted: Planted
    tests: tuple[str, ...]


class CaughtInJavaScript(NamedTuple):
    """A fault in JavaScript, and the tests that are to catch it: node's, or those of a folder here."""

    fault: JavaScriptFault
    tests: tuple[str, ...]


PYTHON = {
    planted.__name__: Caught(planted, tests)
    for group in (PROTOCOL, CLIENT, ACCESS, DATA, DRAFTS, TOKENS, STORAGE)
    for planted, tests in group.items()
}
JAVASCRIPT = {
    name: CaughtInJavaScript(fault, javascript_faults.TESTS[name]) for name, fault in javascript_faults.FAULTS.items()
}
FAULTS: dict[str, Caught | CaughtInJavaScript] = {**PYTHON, **JAVASCRIPT}
