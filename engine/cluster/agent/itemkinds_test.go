package agent

import (
	"reflect"
	"testing"

	"orbweaver/engine/cluster/message"
)

// A recipe of CONTRIBUTING.md: a kind of message is its form in package message and a row here. Each kind has a row of
// its own.
func TestRecipe_aKindOfMessageIsOneRow(t *testing.T) {
	rows := map[uintptr]byte{}
	for _, kind := range []byte(message.Kinds()) {
		row := itemKindOf(kind)
		take := reflect.ValueOf(row.take).Pointer()
		if other, taken := rows[take]; taken || (row.permit == nil) != (kind == message.Link || kind == message.Depth) {
			t.Errorf("kind %c has the row of kind %c", kind, other)
		}
		rows[take] = kind
	}
}
