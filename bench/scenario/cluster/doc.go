// Package cluster holds the scenarios of several agents: handoff, failure, leave, partitions, quorum, messages under
// faults, and hostile agents. Package testbed describes how they run.
package cluster
