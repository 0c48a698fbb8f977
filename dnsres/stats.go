package dnsres

// Stats counts what a Resolver did since New.
type Stats struct {
	Lookups    uint64 // calls of Resolve
	Literals   uint64 // answered without a question: literal addresses, localhost and the hosts file
	BadNames   uint64 // refused before any question
	Hits       uint64 // answered by the cache, good answers and negative ones
	FaultHits  uint64 // answered by a cached server fault
	Joined     uint64 // waited for the question of another caller
	Found      uint64 // questions answered with addresses
	NotFound   uint64 // questions answered with no such name or no address
	Faults     uint64 // questions that ended in a server fault or a time-out
	Exchanges  uint64 // messages sent, TCP included
	TCP        uint64 // of those, over TCP
	Timeouts   uint64 // exchanges that ended in a time-out
	Mismatches uint64 // replies that do not belong to our question: wrong id, name, type or case
	Evicted    uint64 // valid cache entries that were removed to make space
	Cached     int    // names in the cache now
	Outage     bool   // result of Outage
}
