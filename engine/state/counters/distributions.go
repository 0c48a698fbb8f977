package counters

import "orbweaver/internal/histogram"

// Distributions are how long the parts of exchanges take, how large bodies are, and how long sites are left alone, in
// this run. They are metrics alone: neither in report.json nor in the manifest. A field is declared like a counter; its
// label has the value behind the equals sign.
type Distributions struct {
	Connect   histogram.Durations `metric:"fetch_phase_seconds" label:"phase=connect" help:"Time of the phases of exchanges with a response, in this run: connect, first_byte, body."`
	FirstByte histogram.Durations `metric:"fetch_phase_seconds" label:"phase=first_byte" help:"Time of the phases of exchanges with a response, in this run: connect, first_byte, body."`
	Body      histogram.Durations `metric:"fetch_phase_seconds" label:"phase=body" help:"Time of the phases of exchanges with a response, in this run: connect, first_byte, body."`

	BodySize histogram.Sizes     `metric:"response_body_bytes" help:"Bytes of bodies of responses, without chunking, in this run."`
	Gap      histogram.Gaps      `metric:"politeness_gap_seconds" help:"Time from the end of an exchange with a site to the start of the next one, in this run. Sites that were on disk meanwhile are not counted."`
	Sync     histogram.Durations `metric:"journal_sync_seconds" help:"Time of group commits: archive and journal are made durable, in this run."`
}
