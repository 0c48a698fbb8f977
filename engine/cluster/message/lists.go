package message

import (
	"encoding/binary"
	"fmt"

	"orbweaver/engine/peering/outbox"
	"orbweaver/engine/records/dedup"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/queued"
)

// AppendFetched appends a list of fingerprints, each the first half of a digest.
func AppendFetched(dst []byte, list cluster.FetchedList, keys []dedup.Digest) []byte {
	dst = binary.LittleEndian.AppendUint64(append(dst, Fetched, version), list.Seed)
	dst = queued.AppendBytes(dst, []byte(list.Instance))
	for i := range keys {
		dst = append(dst, keys[i][:16]...)
	}
	return dst
}

// FetchedPart is a part of a list: fingerprints of 16 bytes each.
type FetchedPart struct {
	List         cluster.FetchedList
	Fingerprints []byte
}

func readFetched(item []byte) (*FetchedPart, error) {
	const head = 2 + 8
	if len(item) < head || item[1] != version {
		return nil, fmt.Errorf("not a list of fetched URLs: %.40q", item)
	}
	instance, fingerprints, ok := queued.CutBytes(item[head:])
	if !ok || len(fingerprints)%16 != 0 {
		return nil, fmt.Errorf("not a list of fetched URLs of %.200q", instance)
	}
	list := cluster.FetchedList{Seed: binary.LittleEndian.Uint64(item[2:]), Instance: string(instance)}
	return &FetchedPart{List: list, Fingerprints: fingerprints}, nil
}

// AppendRetained begins an item with what was sent to an instance. Items follow, appended with outbox.AppendItem.
func AppendRetained(dst []byte, instance string) []byte {
	return queued.AppendBytes(append(dst, Retained, version), []byte(instance))
}

// RetainedPart is a part of what was sent to an instance.
type RetainedPart struct {
	Instance string
	Items    []Item
}

func (r *reader) readRetained(item []byte) (*RetainedPart, error) {
	if len(item) < 2 || item[1] != version {
		return nil, fmt.Errorf("not what an agent was sent: %.40q", item)
	}
	name, content, ok := queued.CutBytes(item[2:])
	if !ok {
		return nil, fmt.Errorf("not the name of an agent that was sent something: %.200q", item)
	}
	part := &RetainedPart{Instance: string(name)}
	for one, err := range outbox.Items(content) {
		if err != nil {
			return nil, err
		}
		if len(one) == 0 || one[0] != Link && one[0] != Site && one[0] != RobotsRedirect {
			return nil, fmt.Errorf("an item that no agent is sent twice: %.40q", one)
		}
		retained, err := r.read(one)
		if err != nil {
			return nil, err
		}
		part.Items = append(part.Items, retained)
	}
	return part, nil
}
