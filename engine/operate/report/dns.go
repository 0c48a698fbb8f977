package report

import "orbweaver/dnsres"

// DNS is what was asked about names, in this run.
type DNS struct {
	Unresolved int64 `json:"hosts_unresolved" metric:"sites_unresolved" help:"Sites that wait for an address."`
	Lookups    int64 `json:"lookups" metric:"dns_lookups_total" help:"Look-ups of names, in this run."`
	CacheHits  int64 `json:"cache_hits" metric:"dns_cache_hits_total" help:"Look-ups answered by the cache of names, in this run."`
	Found      int64 `json:"found" metric:"dns_found_total" help:"Names for which the name servers had addresses, in this run."`
	NotFound   int64 `json:"not_found" metric:"dns_not_found_total" help:"Names that do not exist or have no address, in this run."`
	Faults     int64 `json:"faults" metric:"dns_faults_total" help:"Names for which no name server had an answer, in this run."`
	Messages   int64 `json:"messages" metric:"dns_messages_total" help:"Messages sent to name servers, in this run."`
	Timeouts   int64 `json:"timeouts" metric:"dns_timeouts_total" help:"Messages to name servers that were not answered in time, in this run."`
}

func newDNS(unresolved int, s dnsres.Stats) DNS {
	return DNS{
		Unresolved: int64(unresolved), Lookups: int64(s.Lookups), CacheHits: int64(s.Hits + s.FaultHits),
		Found: int64(s.Found), NotFound: int64(s.NotFound), Faults: int64(s.Faults), Messages: int64(s.Exchanges),
		Timeouts: int64(s.Timeouts),
	}
}
