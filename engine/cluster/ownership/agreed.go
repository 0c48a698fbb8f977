package ownership

import (
	"encoding/json"
	"fmt"
	"slices"
)

// agreedAgent is an agent in the form that agents agree on.
type agreedAgent struct {
	Agent
	IsAway bool `json:"away,omitempty"`
}

// EncodeAgreed is the form of an ownership view that agents agree on. Those of the agents whose instances are in away
// have stopped and are expected back: they own their hosts, but grant no leases of addresses.
func EncodeAgreed(agents []Agent, away []string) []byte {
	all := make([]agreedAgent, len(agents))
	for i, a := range agents {
		all[i] = agreedAgent{a, slices.Contains(away, a.Instance())}
	}
	b, err := json.Marshal(all)
	if err != nil {
		panic("BUG: ownership: " + err.Error())
	}
	return b
}

// DecodeAgreed reads what EncodeAgreed wrote.
func DecodeAgreed(b []byte) (agents []Agent, away []string, err error) {
	var all []agreedAgent
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, nil, fmt.Errorf("ownership: an agreed view: %w", err)
	}
	for _, a := range all {
		agents = append(agents, a.Agent)
		if a.IsAway {
			away = append(away, a.Instance())
		}
	}
	return agents, away, nil
}
