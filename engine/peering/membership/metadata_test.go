package membership

import (
	"bytes"
	"errors"
	"maps"
	"math"
	"net/netip"
	"strings"
	"testing"
)

func sampleMetadata() metadata {
	return metadata{
		agent: Agent{
			ID: "a-1", Capacity: 3, MessageAddr: netip.MustParseAddrPort("192.0.2.7:7947"), Store: 77, Crawl: "c",
			MessageVersion: 2,
		},
		incarnation: 5, stage: member,
	}
}

func sampleMetadataBytes() []byte {
	m := sampleMetadata()
	return m.append(nil)
}

func TestMetadata_roundTrip(t *testing.T) {
	long := strings.Repeat("x", maxName)
	for _, m := range []metadata{
		sampleMetadata(),
		{agent: Agent{ID: "a", Capacity: 1, Crawl: "c"}},
		{
			agent: Agent{
				ID: long, Capacity: MaxCapacity, MessageAddr: netip.MustParseAddrPort("[2001:db8::1]:65535"),
				Store: math.MaxUint64, Crawl: strings.Repeat("x", maxCrawl), MessageVersion: 65535,
			},
			incarnation: math.MaxUint64, stage: leaving,
		},
	} {
		data := m.append(nil)
		if len(data) > 352 {
			t.Errorf("%d bytes: want at most 352", len(data))
		}
		if got, err := parseMetadata(data); err != nil || got != m {
			t.Errorf("parsed %+v, %v; want %+v", got, err, m)
		}
		for n := range data {
			if _, err := parseMetadata(data[:n]); err == nil {
				t.Errorf("%+v: the first %d bytes were accepted", m, n)
			}
		}
		if _, err := parseMetadata(append(data, 0)); !errors.Is(err, errMetadata) {
			t.Errorf("with one more byte: %v", err)
		}
	}
	other := sampleMetadataBytes()
	other[0] = 2
	if _, err := parseMetadata(other); !errors.Is(err, errMetadataVersion) {
		t.Errorf("another version: %v", err)
	}
}

// Agents of other builds read the metadata, so the bytes must not change within a version.
func TestMetadata_bytes(t *testing.T) {
	want := "\x01\x01\x05\x4d\x03\x02\x04\xc0\x00\x02\x07\x1f\x0b\x03a-1\x01c"
	if got := string(sampleMetadataBytes()); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzMetadata(f *testing.F) {
	f.Add(sampleMetadataBytes())
	f.Add([]byte{metadataVersion, 0, 0, 0, 1, 0, 0, 0, 0, 1, 'a', 1, 'c'})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseMetadata(data)
		if err != nil {
			return
		}
		if faults := m.agent.faults(); faults != nil {
			t.Errorf("%q: %v", data, faults)
		}
		if again := m.append(nil); !bytes.Equal(again, data) {
			t.Errorf("%q was parsed and is written as %q", data, again)
		}
	})
}

func FuzzMessage(f *testing.F) {
	for _, m := range []message{
		{kind: livenessRequest, nonce: 7, process: "a@1", replyTo: netip.MustParseAddrPort("192.0.2.7:7946")},
		{kind: livenessResponse, nonce: math.MaxUint64, process: "a@1"},
		{kind: incarnationEnded, process: "a@1", incarnation: 300},
		{kind: suspicion, process: "a@1"},
	} {
		f.Add(m.append(nil))
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseMessage(data)
		if err != nil {
			return
		}
		if again := m.append(nil); !bytes.Equal(again, data) {
			t.Errorf("%q was parsed and is written as %q", data, again)
		}
	})
}

func FuzzEnded(f *testing.F) {
	f.Add(appendEnded(nil, map[string]uint64{"a": 1, "b-2": math.MaxUint64}))
	f.Add([]byte{endedVersion})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		ended := map[string]uint64{}
		if err := parseEnded(data, func(id string, incarnation uint64) { ended[id] = incarnation }); err != nil {
			return
		}
		again := map[string]uint64{}
		err := parseEnded(appendEnded(nil, ended), func(id string, incarnation uint64) { again[id] = incarnation })
		if err != nil || !maps.Equal(ended, again) {
			t.Errorf("%q: %v was written and parsed as %v, %v", data, ended, again, err)
		}
	})
}
