// Package addrgroup lets all sites of a group share one connection and one delay, as the sites of an IP address do. A
// group has a name and is made by host rules (see filter.HostRules): hosts, addresses, or ranges of addresses of one
// operator.
//
// The workbench has each site under an address key, and does not know what it stands for. The sites of a group have
// their place under the key of the group, an address that no server can have. So all that holds for an address holds
// for a group: one request at a time, the due time over restarts and on disk, and leases between agents.
//
//	schedule.ResolveLoop: under the key of its address -> fetchers: Groups.KeyOf says another key -> Release.Replace
//	-> under the key of the group -> consequences.decide: Groups.Delay -> politeness.Attempt.GroupDelay -> IPDue
//
// # An address with sites of a group and others
//
// One address has one request at a time. So if a host is in a group by its name, all sites of its address belong to the
// group, too. Groups learns such an address in a Visit, which holds the address: nothing else is asked there at that
// moment, and its delay has passed. From then on, the other sites move to the group before they are asked. After a
// restart, Groups learns the addresses from the workbench and from the sites on disk.
//
// Two groups may have hosts at one address by their names. Each host is in its own group. BeginExchange lets them take
// turns at the address, with the delay of the group that contacted it last.
//
// # Several agents
//
// The hosts of a group belong to different agents. The lease of the group's key is asked for with the delay of the
// group, so all agents together keep it (settings.Live.AddrDelay). Agents do not tell each other which addresses they
// have learned. So a site that is in a group by its name needs the lease of its address, too (SharedAddr): the sites of
// other agents there keep at least the delay of the address.
package addrgroup
