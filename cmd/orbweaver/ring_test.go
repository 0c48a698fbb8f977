package main

import (
	"encoding/json"
	"testing"

	"orbweaver/internal/cli/command"
)

func TestRing_owner(t *testing.T) {
	in := "example.org\nHTTP://WWW.Example.org:8080/x\nhttps://192.0.2.1/\nno host\n"
	want := "example.org\tagent-3\nwww.example.org\tagent-2\n192.0.2.1\tagent-3\n! "
	args := []string{
		"ring", "owner", "--replicas", "100", "--member", "agent-4=4", "--member", "agent-1", "--member", "agent-3=2",
		"--member", "agent-2",
	}
	if r := callWith(in, args...).want(t, command.ExitDone); len(r.out) < len(want) || r.out[:len(want)] != want {
		t.Errorf("got:\n%swant:\n%s", r.out, want)
	}
	call("ring", "owner").want(t, command.ExitUsage, "--member")
	call("ring", "owner", "--member", "a=x", "--member", "b=y").want(t, command.ExitUsage, "--member a=x", "--member b=y")
	call("ring", "owner", "--member", "a", "--member", "a").want(
		t, command.ExitUsage, `two members have the identifier "a"`,
	)
}

func TestRing_balance(t *testing.T) {
	r := call(
		"ring", "balance", "--agents", "16", "--replicas", "200", "--hosts", "1000000", "--sets", "2", "--json",
	).want(t, command.ExitDone)
	var row struct {
		Agents, Replicas int
		Mean             float64 `json:"mean_deviation"`
		Worst            float64 `json:"worst_deviation"`
	}
	if err := json.Unmarshal([]byte(r.out), &row); err != nil {
		t.Fatal(err)
	}
	if row.Agents != 16 || row.Replicas != 200 || row.Mean <= 0 || row.Mean > 0.05 || row.Worst < row.Mean ||
		row.Worst > 0.2 {
		t.Errorf("%+v", row)
	}
	call("ring", "balance", "--agents", "2,4", "--hosts", "10000", "--sets", "1", "--assignment", "rendezvous").want(
		t, command.ExitDone, "",
	)
}
