package transportpb_test

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"orbweaver/engine/peering/transport/transportpb"
	"orbweaver/internal/golden"
)

// The messages between agents have the bytes that they had, and those bytes mean what they meant.
func TestGolden_messages(t *testing.T) {
	for _, c := range []struct {
		name, sum     string
		message, read proto.Message
	}{
		{
			"batch-1.pb", "c73bd197a24087feda58c1ef97d7c1a65092efa5ea4f8fcfe446689d945cb8a4",
			&transportpb.Batch{Incarnation: 0x0102030405060708, Sequence: 300, Content: []byte("content")},
			new(transportpb.Batch),
		},
		{
			"request-1.pb", "75d96888d040ffa9d2a37a622f4f3c36b213d585d349a6375e4a1d19918a81c6",
			&transportpb.Request{Kind: 255, Content: []byte("content")},
			new(transportpb.Request),
		},
		{
			"response-1.pb", "08075e854c1ae61c44cf6b0a1a44b5b5f7f6aed14e28333e1757ce5232c00be0",
			&transportpb.Response{Content: []byte("content")},
			new(transportpb.Response),
		},
	} {
		encoded, err := proto.MarshalOptions{Deterministic: true}.Marshal(c.message)
		if err != nil {
			t.Fatal(err)
		}
		if err := proto.Unmarshal(golden.Compare(t, c.name, c.sum, encoded), c.read); err != nil {
			t.Fatal(err)
		}
		if !proto.Equal(c.message, c.read) {
			t.Errorf("%s is read as %v", c.name, c.read)
		}
	}
}
