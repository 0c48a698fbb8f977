// Package agent is this agent in a cluster: it implements the roles of package engine/cluster for a crawl with several
// agents. Package engine calls Open, Connect and Resume, and knows nothing else of it. A crawl of one agent has Alone.
//
// What it does, and the files that do it:
//
//	roles.go       the roles of package engine/cluster, and the wiring of the packages that have them
//	membership.go  follows membership and makes the ownership view from it: present.go says which agents count,
//	               and whether the crawl has begun
//	route.go       sends URLs to their owners, and again when an owner is lost
//	receive.go     takes messages; authority.go decides what a sender may say; itemkinds.go has the table of the
//	               kinds of items
//	superseded.go  starts the marking of captures that other agents have, too: package recovery
//	departure.go   leaves permanently; given.go has what a leaving agent gives to the others
//
// What an agent does for a URL happens in the step that moves the URL (journal.Steps); the ownership view changes while
// all steps stand still. docs/cluster-design.md has the protocol and its promises; cluster-faults.md what an operator
// sees.
package agent
