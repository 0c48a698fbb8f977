package engine

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/outbox"
	"orbweaver/engine/seen"
	"orbweaver/engine/urlx"
)

// What an agent that leaves for good knows and nobody else does goes to the others, in items of letters:
//
//	'F' 1  seed (8)  fingerprint (16)*    URLs that it has an answer of; their hash is seeded
//	'T' 1  line (s)  (item)*              what it told another agent: whoever gets this is to tell it again if that one is lost
//
// Everybody gets all of 'F', since nobody knows who will be responsible for what one day; 'T' goes to one who is not the one that was told.
const inheritVersion = 1

const (
	inheritedAtOnce = 2048     // fingerprints in an item
	toldBytes       = 32 << 10 // an item of a letter is no longer than that and one item that was told
)

// appendInherited appends fingerprints as they lie in the map.
func appendInherited(dst []byte, seed uint64, keys []seen.Digest) []byte {
	dst = binary.LittleEndian.AppendUint64(append(dst, letterFetched, inheritVersion), seed)
	for i := range keys {
		dst = append(dst, keys[i][:16]...)
	}
	return dst
}

// readInherited reads them.
func readInherited(item []byte) (seed uint64, fps []byte, err error) {
	const head = 2 + 8
	if len(item) < head || item[0] != letterFetched || item[1] != inheritVersion || (len(item)-head)%16 != 0 {
		return 0, nil, fmt.Errorf("no fingerprints: %.40q", item)
	}
	return binary.LittleEndian.Uint64(item[2:]), item[head:], nil
}

// readTold reads what somebody was told, and checks it.
func (p *peers) readTold(item []byte) (line string, items []byte, err error) {
	if len(item) < 2 || item[0] != letterTold || item[1] != inheritVersion {
		return "", nil, fmt.Errorf("nothing that anybody was told: %.40q", item)
	}
	name, items, ok := cutBytes(item[2:])
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
func (p *peers) takeTold(item []byte) error {
	line, items, err := p.readTold(item)
	if err != nil || line == p.ownLine() {
		return err
	}
	known := slices.Contains(p.box.Lines(), line)
	d := door{again: xxh3.HashString128(line)}
	for one, err := range outbox.Items(items) {
		switch {
		case err != nil:
			return err
		case known:
			p.box.Note(line, one)
		default:
			if err := p.take(&d, one, postmark{told: true}); err != nil {
				return err
			}
		}
	}
	return nil
}

// ownLine names this agent with its data.
func (p *peers) ownLine() string { return Peer{ID: p.seam.Self(), Store: p.store}.line() }

// inherit notes URLs that another agent has answers of. A hash with another seed is another key.
func (f *fetched) inherit(seed uint64, fps []byte) {
	f.mu.Lock()
	if !slices.Contains(f.seeds, seed) {
		f.seeds = append(f.seeds, seed)
	}
	f.mu.Unlock()
	for ; len(fps) > 0; fps = fps[16:] {
		fp := xxh3.Uint128{Hi: binary.LittleEndian.Uint64(fps), Lo: binary.LittleEndian.Uint64(fps[8:])}
		f.addKey(inheritedKey(fp, seed))
	}
}

// inheritedKey is the key of a fingerprint whose hash has the seed of another agent.
func inheritedKey(fp xxh3.Uint128, seed uint64) seen.Digest {
	d := fetchedKey(fp)
	binary.LittleEndian.PutUint32(d[16:], seedMark(seed))
	return d
}

// seedMark tells keys of one seed from those of another; it is never 0, which own keys have.
func seedMark(seed uint64) uint32 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], seed)
	return uint32(xxh3.Hash(b[:])) | 1
}

// hasURL says that this agent has an answer of a URL, or one that has left for good had.
func (f *fetched) hasURL(own uint64, url []byte) (bool, error) {
	have, err := f.hasKey(fetchedKey(urlx.Fingerprint(own, url)))
	if have || err != nil {
		return have, err
	}
	for _, seed := range f.inherited() {
		if have, err = f.hasKey(inheritedKey(urlx.Fingerprint(seed, url), seed)); have || err != nil {
			return have, err
		}
	}
	return false, nil
}

func (f *fetched) inherited() []uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.seeds)
}

// seedOf is the seed of a key's hash, own if it is none of others.
func (f *fetched) seedOf(own uint64, key seen.Digest) uint64 {
	mark := binary.LittleEndian.Uint32(key[16:])
	for _, seed := range f.inherited() {
		if mark != 0 && seedMark(seed) == mark {
			return seed
		}
	}
	return own
}
