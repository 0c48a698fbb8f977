package message

import (
	"encoding/binary"
	"fmt"

	"orbweaver/engine/peering/outbox"
	"orbweaver/engine/records/dedup"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/site"
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

// ReadFetched reads a list of fingerprints, 16 bytes each.
func ReadFetched(item []byte) (list cluster.FetchedList, fingerprints []byte, err error) {
	const head = 2 + 8
	if len(item) < head || item[0] != Fetched || item[1] != version {
		return list, nil, fmt.Errorf("not a list of fetched URLs: %.40q", item)
	}
	instance, fingerprints, ok := queued.CutBytes(item[head:])
	if !ok || len(fingerprints)%16 != 0 {
		return list, nil, fmt.Errorf("not a list of fetched URLs of %.200q", instance)
	}
	return cluster.FetchedList{Seed: binary.LittleEndian.Uint64(item[2:]), Instance: string(instance)}, fingerprints, nil
}

// AppendRetained begins an item with what was sent to an instance. Items follow, appended with outbox.AppendItem.
func AppendRetained(dst []byte, instance string) []byte {
	return queued.AppendBytes(append(dst, Retained, version), []byte(instance))
}

// ReadRetained reads what was sent to an instance, and checks its items. rules holds the rules of sites.
func ReadRetained(item []byte, rules *site.RulesPool) (instance string, items []byte, err error) {
	if len(item) < 2 || item[0] != Retained || item[1] != version {
		return "", nil, fmt.Errorf("not what an agent was sent: %.40q", item)
	}
	name, items, ok := queued.CutBytes(item[2:])
	if !ok {
		return "", nil, fmt.Errorf("not the name of an agent that was sent something: %.200q", item)
	}
	for one, err := range outbox.Items(items) {
		switch KindOf(one) {
		case Link, Site, RobotsRedirect:
			if err == nil {
				_, err = CheckItem(nil, one, rules)
			}
		default:
			return "", nil, fmt.Errorf("an item that no agent is sent twice: %.40q", one)
		}
		if err != nil {
			return "", nil, err
		}
	}
	return string(name), items, nil
}
