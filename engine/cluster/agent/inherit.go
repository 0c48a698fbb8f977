package agent

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/admission"
	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/outbox"
	"orbweaver/engine/queued"
	"orbweaver/engine/seen"
)

// What an agent that leaves for good knows and nobody else does goes to the others, in items of letters:
//
//	'F' 1  seed (8)  line (s)  fingerprint (16)*    URLs that an agent has an answer of; their hash is seeded
//	'T' 1  line (s)  (item)*                        what it told another agent: whoever gets this is to tell it again if that one is lost
//
// Everybody gets all of 'F', since nobody knows who will be responsible for what one day; 'T' goes to one who is not
// the one that was told.
//
// As long as the agent has not left, it may die, and its disk be lost: a URL that is not fetched since it has the page
// is noted as told to it. If it dies, the list counts no more, and what it was told is told again, as after any death.
const inheritVersion = 1

const (
	inheritedAtOnce = 2048     // fingerprints in an item
	toldBytes       = 32 << 10 // an item of a letter is no longer than that and one item that was told
)

// appendInherited appends fingerprints as they lie in the map.
func appendInherited(dst []byte, of cluster.FetchedList, keys []seen.Digest) []byte {
	dst = binary.LittleEndian.AppendUint64(append(dst, letterFetched, inheritVersion), of.Seed)
	dst = queued.AppendBytes(dst, []byte(of.Instance))
	for i := range keys {
		dst = append(dst, keys[i][:16]...)
	}
	return dst
}

// readInherited reads them.
func readInherited(item []byte) (of cluster.FetchedList, fps []byte, err error) {
	const head = 2 + 8
	if len(item) < head || item[0] != letterFetched || item[1] != inheritVersion {
		return of, nil, fmt.Errorf("no fingerprints: %.40q", item)
	}
	line, fps, ok := queued.CutBytes(item[head:])
	if !ok || len(fps)%16 != 0 {
		return of, nil, fmt.Errorf("no fingerprints of %.200q", line)
	}
	return cluster.FetchedList{Seed: binary.LittleEndian.Uint64(item[2:]), Instance: string(line)}, fps, nil
}

// readTold reads what somebody was told, and checks it.
func (p *agent) readTold(item []byte) (line string, items []byte, err error) {
	if len(item) < 2 || item[0] != letterTold || item[1] != inheritVersion {
		return "", nil, fmt.Errorf("nothing that anybody was told: %.40q", item)
	}
	name, items, ok := queued.CutBytes(item[2:])
	if !ok {
		return "", nil, fmt.Errorf("whom something was told: %.200q", item)
	}
	for one, err := range outbox.Items(items) {
		switch kindOf(one) {
		case letterLink, letterSite, letterHop:
			if err == nil {
				err = p.readItem(one)
			}
		default:
			return "", nil, fmt.Errorf("nothing that anybody is told twice: %.40q", one)
		}
		if err != nil {
			return "", nil, err
		}
	}
	return string(name), items, nil
}

// takeTold keeps what an agent was told by one that has left; if that agent is gone already, it is told to others.
func (p *agent) takeTold(item []byte) error {
	line, items, err := p.readTold(item)
	if err != nil || line == p.instance {
		return err
	}
	known := slices.Contains(p.outbox.Agents(), line)
	d := admission.Scratch{Salt: xxh3.HashString128(line)}
	for one, err := range outbox.Items(items) {
		switch {
		case err != nil:
			return err
		case known:
			p.outbox.PutRetained(line, one)
		default:
			if err := p.take(&d, one, postmark{told: true}); err != nil {
				return err
			}
		}
	}
	return nil
}

// has says that this agent has an answer of a URL, or one that has left for good. It does not speak for one that is
// leaving, whose disk may be lost yet: whoever heard that would count on this agent, and not tell it again when that
// one dies.
func (p *agent) has(url []byte) (bool, error) {
	line, err := p.fetched.HolderOf(p.frontier.HashSeed, p.instance, url)
	return line != "" && (line == p.instance || p.hasLeft(line) || !p.isGoing(line) &&
		!slices.Contains(p.outbox.Agents(), line)), err
}
