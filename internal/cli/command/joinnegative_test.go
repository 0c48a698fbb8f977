package command

import (
	"reflect"
	"testing"
)

func TestJoinNegative(t *testing.T) {
	got := joinNegative([]string{"a", "--max-depth", "-1", "--x=2", "-3", "--json", "-h", "--", "--y", "-4"})
	want := []string{"a", "--max-depth=-1", "--x=2", "-3", "--json", "-h", "--", "--y", "-4"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}
