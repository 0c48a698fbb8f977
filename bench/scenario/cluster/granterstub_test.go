package cluster

import (
	"encoding/binary"
	"errors"
	"time"

	"orbweaver/engine/cluster/leasing"
	"orbweaver/engine/peering/outbox"
)

// questionFetched begins the question whether another agent has pages.
const questionFetched = 'F'

// granterStub grants the leases of the addresses of an agent, says that the agent has fetched nothing, and answers no
// other question. An agent that does no work answers so, and does not delay the others.
type granterStub struct{ granter leasing.Granter }

func (g *granterStub) answer(from string, question []byte) (answers []byte, err error) {
	if question[0] == questionFetched {
		for _, err := range outbox.Items(question[1:]) {
			if err != nil {
				return nil, err
			}
			answers = append(answers, 0)
		}
		return answers, nil
	}
	if len(question) < 10 || question[0] != 'L' {
		return nil, errors.New("this agent answers no such question")
	}
	_, n := binary.Uvarint(question[9:])
	for w, err := range leasing.Requests(question[9+n:]) {
		if err != nil {
			return nil, err
		}
		answers = leasing.AppendResponse(answers, g.granter.Handle(from, w, time.Time{}, time.Now()))
	}
	return answers, nil
}

// items are the items of a message.
func items(message []byte) map[string]bool {
	all := map[string]bool{}
	for item, err := range outbox.Items(message) {
		if err == nil {
			all[string(item)] = true
		}
	}
	return all
}
