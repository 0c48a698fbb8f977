package consensus

import (
	"encoding/json"
	"errors"
	"fmt"

	"orbweaver/engine/peering"
)

// Kinds of questions.
const (
	kindAppend  = "append"
	kindVote    = "vote"
	kindPreVote = "prevote"
	kindInstall = "install"
	kindNow     = "now"
	kindLease   = "lease"
	kindPledge  = "pledge"
	kindRemove  = "remove"
	kindState   = "state"
)

// ErrMessage says that a message cannot be read.
var ErrMessage = fmt.Errorf("%w: of package consensus", peering.ErrMalformed)

// errClosed says that the node has ended, or has not begun.
var errClosed = errors.New("consensus: not running")

// question is what one node says to another.
type question struct {
	Kind    string          `json:"kind"`
	From    string          `json:"from"`              // raft ID of the sender
	To      string          `json:"to,omitempty"`      // raft ID of the receiver; empty for whichever the agent has now
	Cluster string          `json:"cluster,omitempty"` // names the log; empty if the sender has none
	Body    json.RawMessage `json:"body,omitempty"`    // raft's request
	Data    []byte          `json:"data,omitempty"`    // of a snapshot
	Index   uint64          `json:"index,omitempty"`   // of the view by which the sender acts
	Run     uint64          `json:"run,omitempty"`     // tells the process of the sender from earlier ones
	Found   string          `json:"found,omitempty"`   // the log that the sender would begin
}

// answer is what the other says to that.
type answer struct {
	ID       string          `json:"id"`
	Cluster  string          `json:"cluster,omitempty"`
	Founding string          `json:"founding,omitempty"` // the log that it would begin
	Leader   string          `json:"leader,omitempty"`   // raft ID
	Granted  bool            `json:"granted,omitempty"`
	Contacts []string        `json:"contacts,omitempty"` // lines of the agents that the leader has heard, for people
	Body     json.RawMessage `json:"body,omitempty"`
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("BUG: consensus: " + err.Error())
	}
	return b
}

func decode(b []byte, v any) error {
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%w: %w", ErrMessage, err)
	}
	return nil
}
