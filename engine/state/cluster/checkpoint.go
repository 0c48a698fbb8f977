package cluster

import (
	"orbweaver/engine/peering/outbox"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/records/dedup"
	"orbweaver/warc"
)

// FetchedList is a list of the URLs that an agent has an answer of, which another agent holds.
type FetchedList struct {
	Seed     uint64 `json:"seed"` // of the fingerprints
	Instance string `json:"line"` // of the agent that fetched them
}

// Checkpoint is the cluster's part of a manifest.
type Checkpoint struct {
	Outbox  outbox.Checkpoint `json:"outbox"`
	Agents  []ownership.Agent `json:"peers"` // of the ownership view
	EverAll []ownership.Agent `json:"all"`   // all agents that ever were members
	Assign  ownership.Method  `json:"assign,omitempty"`
	Births  uint64            `json:"births"`  // how often an agent came with data that were not there before
	Founded uint64            `json:"founded"` // the hash of the first complete view; 0 if there was none
	Turns   int64             `json:"turns"`   // how often the view changed since the first complete one
	Fetched dedup.Checkpoint  `json:"fetched"`
	// TemporarySince is where the archive was when a host had a temporary owner first; nil if none had.
	TemporarySince *warc.Checkpoint `json:"lent,omitempty"`
	IsLeaving      bool             `json:"leaving,omitempty"`   // this agent leaves permanently
	AnnouncedLeave bool             `json:"told,omitempty"`      // and other agents may know it
	LeavingAgents  []string         `json:"going,omitempty"`     // instances of other agents that leave
	DoneAgents     []string         `json:"gone,omitempty"`      // those of them that have nothing left
	FetchedLists   []FetchedList    `json:"inherited,omitempty"` // of agents that have left
	HasBegun       bool             `json:"begun"`               // enough agents were there for the crawl to begin
}
