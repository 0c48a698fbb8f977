package members

import (
	"encoding/binary"
	"errors"
	"net/netip"
)

// word is a message from one process to another, beside what memberlist says.
type word struct {
	kind   wordKind
	nonce  uint64         // knock, answer: the asker's, so that an answer cannot be an old one
	name   string         // knock: who is asked; answer: who answers; ended: whom it is about
	answer netip.AddrPort // knock: where the asker listens
	term   uint64         // ended: the last term of that ID that has ended
}

type wordKind uint8

const (
	knock  wordKind = iota + 1 // are you alive, you of that name?
	answer                     // I am
	ended                      // you were taken for dead: begin another term
)

var errWord = errors.New("members: garbled message")

func (w *word) append(to []byte) []byte {
	to = append(to, byte(w.kind))
	to = binary.BigEndian.AppendUint64(to, w.nonce)
	to = appendString(to, w.name)
	to = appendAddr(to, w.answer)
	return binary.AppendUvarint(to, w.term)
}

func parseWord(data []byte) (w word, err error) {
	r := reader{rest: data}
	w.kind = wordKind(r.byte())
	if b := r.bytes(8); b != nil {
		w.nonce = binary.BigEndian.Uint64(b)
	}
	w.name, w.answer, w.term = r.string(), r.addr(), r.number()
	if r.bad || len(r.rest) != 0 || w.kind < knock || w.kind > ended {
		return word{}, errWord
	}
	return w, nil
}

// Floors travel with each full exchange of state: for each ID the last term that has ended. One byte of version, then ID and term in turn.
const floorsVersion = 1

func appendFloors(to []byte, floors map[string]uint64) []byte {
	to = append(to, floorsVersion)
	for id, term := range floors {
		to = appendString(to, id)
		to = binary.AppendUvarint(to, term)
	}
	return to
}

// parseFloors hands each pair to take. It stops at the first fault.
func parseFloors(data []byte, take func(id string, term uint64)) error {
	r := reader{rest: data}
	if r.byte() != floorsVersion {
		return errWord
	}
	for !r.bad && len(r.rest) > 0 {
		id, term := r.string(), r.number()
		if r.bad || !isName(id) {
			return errWord
		}
		take(id, term)
	}
	return nil
}
