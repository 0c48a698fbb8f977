// Package agent is this agent in a cluster: it implements the roles of package engine/cluster for a crawl with several
// agents. Package engine calls Open, Connect and Resume, and knows nothing else of it. A crawl of one agent has Alone.
//
// What it does, and the files that do it:
//
//	peers.go       follows membership and makes the ownership view from it; underway.go asks whether the crawl has begun
//	receive.go     takes messages; authority.go decides what a sender may say; itemkinds.go has the table of the
//	               kinds of items
//	superseded.go  starts the marking of captures that other agents have, too: package recovery
//	departure.go   an agent leaves permanently, given.go what it gives away; package leave knows which ones do
//
// What an agent does for a URL happens in the step that moves the URL (journal.Steps); the ownership view changes while
// all steps stand still. docs/cluster-design.md has the protocol and its promises; cluster-faults.md what an operator
// sees.
package agent
