-- Schema of the support desk of Quillwater Music (PostgreSQL). It holds no rows here: the live system
-- cannot be reached from the analytics network, so only its structure is in the catalog.

CREATE TYPE ticket_priority AS ENUM ('low', 'normal', 'high', 'urgent');
CREATE TYPE ticket_state AS ENUM ('new', 'open', 'waiting_for_customer', 'on_hold', 'solved', 'closed');

CREATE TABLE teams (
    team_id       integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name          text NOT NULL UNIQUE,
    time_zone     text NOT NULL DEFAULT 'UTC'
);

CREATE TABLE agents (
    agent_id      integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    employee_id   integer NOT NULL UNIQUE,
    team_id       integer NOT NULL REFERENCES teams (team_id),
    display_name  varchar(80) NOT NULL,
    languages     text[] NOT NULL DEFAULT '{}',
    is_active     boolean NOT NULL DEFAULT true
);

CREATE TABLE sla_policies (
    sla_policy_id       integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name                text NOT NULL,
    priority            ticket_priority NOT NULL,
    first_response_mins integer NOT NULL CHECK (first_response_mins > 0),
    resolution_mins     integer NOT NULL,
    business_hours_only boolean NOT NULL DEFAULT true,
    CONSTRAINT resolution_after_response CHECK (resolution_mins >= first_response_mins)
);

CREATE TABLE tickets (
    ticket_id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    customer_id     integer NOT NULL,
    invoice_id      integer,
    subject         varchar(200) NOT NULL,
    channel         varchar(12) NOT NULL CHECK (channel IN ('email', 'chat', 'phone', 'web_form')),
    category        varchar(30),
    priority        ticket_priority NOT NULL DEFAULT 'normal',
    state           ticket_state NOT NULL DEFAULT 'new',
    agent_id        integer REFERENCES agents (agent_id),
    sla_policy_id   integer NOT NULL REFERENCES sla_policies (sla_policy_id),
    opened_at       timestamptz NOT NULL DEFAULT now(),
    first_resp_at   timestamptz,
    solved_at       timestamptz,
    reopen_cnt      smallint NOT NULL DEFAULT 0
);

CREATE TABLE ticket_events (
    ticket_event_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    ticket_id       bigint NOT NULL REFERENCES tickets (ticket_id) ON DELETE CASCADE,
    agent_id        integer REFERENCES agents (agent_id),
    evt_type        varchar(20) NOT NULL,
    old_value       text,
    new_value       text,
    payload         jsonb NOT NULL DEFAULT '{}'::jsonb,
    occurred_at     timestamptz NOT NULL
);

CREATE TABLE ticket_tags (
    ticket_id     bigint NOT NULL REFERENCES tickets (ticket_id) ON DELETE CASCADE,
    tag           varchar(40) NOT NULL,
    PRIMARY KEY (ticket_id, tag)
);

CREATE TABLE satisfaction_surveys (
    survey_id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    ticket_id     bigint NOT NULL UNIQUE REFERENCES tickets (ticket_id),
    sent_at       timestamptz NOT NULL,
    answered_at   timestamptz,
    csat_score    smallint CHECK (csat_score BETWEEN 1 AND 5),
    comment       text
);

CREATE TABLE canned_replies (
    canned_reply_id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    title         varchar(80) NOT NULL,
    lang_cd       char(2) NOT NULL,
    body          text NOT NULL,
    updated_by    integer REFERENCES agents (agent_id)
);

CREATE INDEX tickets_by_customer ON tickets (customer_id, opened_at DESC);
CREATE INDEX tickets_unsolved ON tickets (priority, opened_at) WHERE solved_at IS NULL;
CREATE INDEX ticket_events_by_ticket ON ticket_events (ticket_id, occurred_at);

COMMENT ON TABLE teams IS 'Groups of agents by shift and region: Americas, Europe, Asia-Pacific.';
COMMENT ON TABLE agents IS 'People who answer tickets; a subset of the employees of the music store.';
COMMENT ON COLUMN agents.employee_id IS 'employees.employee_id in the music_store database.';
COMMENT ON COLUMN agents.languages IS 'ISO 639-1 codes of the languages the agent answers in.';
COMMENT ON TABLE sla_policies IS 'Service levels: how soon a ticket of a priority must be answered and solved.';
COMMENT ON COLUMN sla_policies.first_response_mins IS 'Minutes until the first reply of a person; automatic replies do not count.';
COMMENT ON COLUMN sla_policies.business_hours_only IS 'Whether the clock stops outside support hours.';
COMMENT ON TABLE tickets IS 'One request for help from a customer, from opening to solution.';
COMMENT ON COLUMN tickets.customer_id IS 'customers.customer_id in the music_store database.';
COMMENT ON COLUMN tickets.invoice_id IS 'invoices.invoice_id in the music_store database, where the request is about a purchase.';
COMMENT ON COLUMN tickets.first_resp_at IS 'When a person first replied; compared with the SLA.';
COMMENT ON COLUMN tickets.reopen_cnt IS 'How often the customer wrote again after the ticket was solved.';
COMMENT ON TABLE ticket_events IS 'Everything that happened to a ticket: state changes, assignments, replies, escalations.';
COMMENT ON COLUMN ticket_events.evt_type IS 'state_change, assigned, public_reply, internal_note, escalated or merged.';
COMMENT ON TABLE ticket_tags IS 'Free keywords on tickets, for reports.';
COMMENT ON TABLE satisfaction_surveys IS 'The question sent a day after a ticket was solved: how satisfied are you?';
COMMENT ON COLUMN satisfaction_surveys.csat_score IS '1 = very dissatisfied to 5 = very satisfied; 4 and 5 count as satisfied.';
COMMENT ON TABLE canned_replies IS 'Prepared answers to common questions, by language.';
