package cluster

import (
	"encoding/binary"
	"errors"
	"time"

	"orbweaver/engine/cluster/addresslease"
	"orbweaver/engine/cluster/outbox"
)

// questionFetched begins the question whether another agent has pages.
const questionFetched = 'F'

// bookkeeper keeps the book of the addresses that are an agent's to keep, says that it has fetched nothing, and answers
// nothing else: what is left of an agent that does no work, and does not hold up the others.
type bookkeeper struct{ book addresslease.Granter }

func (b *bookkeeper) answer(from string, question []byte) (answers []byte, err error) {
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
		return nil, errors.New("it answers nobody")
	}
	_, n := binary.Uvarint(question[9:])
	for w, err := range addresslease.Requests(question[9+n:]) {
		if err != nil {
			return nil, err
		}
		answers = addresslease.AppendResponse(answers, b.book.Handle(from, w, time.Time{}, time.Now()))
	}
	return answers, nil
}

// items are those of a letter.
func items(letter []byte) map[string]bool {
	all := map[string]bool{}
	for one, err := range outbox.Items(letter) {
		if err == nil {
			all[string(one)] = true
		}
	}
	return all
}
