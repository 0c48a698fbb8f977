package membership

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// metadata is what a process tells about itself. Memberlist carries it with the process's name and gossip address.
type metadata struct {
	agent       Agent // without GossipAddr, which memberlist carries itself
	incarnation uint64
	stage       stage
}

// stage is the progress of a process. The numbers are part of the format.
type stage uint8

const (
	joining stage = iota // it does not know yet that no other living process has its ID
	member
	leaving
)

// metadataVersion is the first byte of metadata. Metadata of another version are refused.
const metadataVersion = 1

var (
	errMetadata        = errors.New("membership: malformed metadata of a member")
	errMetadataVersion = errors.New("membership: unknown version of a member's metadata: run one version on all agents")
)

// append writes version and stage, one byte each. Incarnation, store, capacity and message version follow as unsigned
// varints. Then message address, ID and crawl follow, each behind its length in one byte. At most 220 bytes.
func (m *metadata) append(dst []byte) []byte {
	dst = append(dst, metadataVersion, byte(m.stage))
	for _, n := range []uint64{m.incarnation, m.agent.Store, uint64(m.agent.Capacity), uint64(m.agent.MessageVersion)} {
		dst = binary.AppendUvarint(dst, n)
	}
	dst = appendAddr(dst, m.agent.MessageAddr)
	dst = appendString(dst, m.agent.ID)
	return appendString(dst, m.agent.Crawl)
}

// parseMetadata accepts exactly what append writes.
func parseMetadata(data []byte) (m metadata, err error) {
	if len(data) < 2 {
		return metadata{}, errMetadata
	}
	if data[0] != metadataVersion {
		return metadata{}, fmt.Errorf("%w (%d)", errMetadataVersion, data[0])
	}
	r := reader{rest: data[2:]}
	m.stage = stage(data[1])
	m.incarnation = r.number()
	m.agent.Store = r.number()
	capacity, version := r.number(), r.number()
	m.agent.MessageAddr = r.addr()
	m.agent.ID, m.agent.Crawl = r.string(), r.string()
	if r.bad || len(r.rest) != 0 || m.stage > leaving || capacity > MaxCapacity || version > 1<<16-1 {
		return metadata{}, errMetadata
	}
	m.agent.Capacity, m.agent.MessageVersion = int(capacity), int(version)
	if faults := m.agent.faults(); faults != nil {
		return metadata{}, fmt.Errorf("%w: %w", errMetadata, errors.Join(faults...))
	}
	return m, nil
}
