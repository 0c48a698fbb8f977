package ownership

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Agreed is an ownership view that agents agree on.
type Agreed struct {
	Members []Agent
	// AwayAgents are the instances of Members that have stopped and are expected back: they own hosts, and grant no
	// leases of addresses.
	AwayAgents    []string
	LeavingAgents []Agent // that are there, and are no members since they leave
}

// agreedAgent is an agent in the form that agents agree on.
type agreedAgent struct {
	Agent
	IsAway    bool `json:"away,omitempty"`
	IsLeaving bool `json:"leaving,omitempty"`
}

// Encode is the form of a view in the log of the agents. DecodeAgreed reads it.
func (v *Agreed) Encode() []byte {
	all := make([]agreedAgent, 0, len(v.Members)+len(v.LeavingAgents))
	for _, a := range v.Members {
		all = append(all, agreedAgent{Agent: a, IsAway: slices.Contains(v.AwayAgents, a.Instance())})
	}
	for _, a := range v.LeavingAgents {
		all = append(all, agreedAgent{Agent: a, IsLeaving: true})
	}
	b, err := json.Marshal(all)
	if err != nil {
		panic("BUG: ownership: " + err.Error())
	}
	return b
}

// DecodeAgreed reads what Encode wrote.
func DecodeAgreed(b []byte) (v Agreed, err error) {
	var all []agreedAgent
	if err := json.Unmarshal(b, &all); err != nil {
		return v, fmt.Errorf("ownership: an agreed view: %w", err)
	}
	for _, a := range all {
		if a.IsLeaving {
			v.LeavingAgents = append(v.LeavingAgents, a.Agent)
			continue
		}
		v.Members = append(v.Members, a.Agent)
		if a.IsAway {
			v.AwayAgents = append(v.AwayAgents, a.Instance())
		}
	}
	return v, nil
}
