package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orbweaver/internal/cli/command"
)

// agentsRun is a small benchmark of agents, all in one directory of the test's.
func agentsRun(t *testing.T, dir string, more ...string) result {
	t.Helper()
	return call(append([]string{
		"agents", "--program", os.Getenv("PROGRAM_UNDER_TEST"), "--dir", dir,
		"--hosts", "30", "--ips", "30", "--mean", "8", "--fault-mean", "8",
		"--host-delay", "10ms", "--ip-delay", "2ms", "--fetchers", "16",
		"--most", "1m", "--json",
	}, more...)...)
}

// runsOf are the runs of a result by their names.
func runsOf(t *testing.T, r result) map[string]map[string]any {
	t.Helper()
	list, ok := r.object(t)["runs"].([]any)
	if !ok {
		t.Fatalf("no runs:\n%s", r.out)
	}
	runs := make(map[string]map[string]any)
	for _, one := range list {
		run, ok := one.(map[string]any)
		name, named := run["name"].(string)
		if !ok || !named {
			t.Fatalf("a run without a name: %v", one)
		}
		runs[name] = run
	}
	return runs
}

// One agent alone: everything is as with a crawl. Of its files nothing is left.
func TestAgentsOfOne(t *testing.T) {
	if testing.Short() {
		t.Skip("takes two seconds") // -short is for the seconds between two edits; it runs in CI
	}
	dir := filepath.Join(t.TempDir(), "agents")
	run := runsOf(
		t,
		agentsRun(
			t, dir, "--scenario", "plain", "--agents", "1", "--fsck", "--pass=--warc-level=3", "--pass=--max-depth=100",
		).want(t, command.ExitDone),
	)["plain-1"]
	for name, want := range map[string]float64{
		"coverage": 1, "overlap": 0, "overlap_held": 0, "impolite": 0, "agents": 1, "links_sent": 0, "cpu_ratio": 1,
	} {
		if run[name] != want {
			t.Errorf("%s is %v, want %v", name, run[name], want)
		}
	}
	if pages := number(t, run, "pages"); pages < 100 || run["lambda"].(float64) < 1 ||
		run["cpu_us_per_page"].(float64) < 10 {
		t.Errorf("%v", run)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the directory is still there")
	}
}

// Two agents that know nothing of each other fetch everything twice, and that is found out: the measure can fail.
// Whether they meet at a host depends on when they begin.
func TestAgentsApartAreFoundOut(t *testing.T) {
	if testing.Short() {
		t.Skip("takes two seconds") // -short is for the seconds between two edits; it runs in CI
	}
	dir := filepath.Join(t.TempDir(), "agents")
	run := runsOf(
		t,
		agentsRun(
			t, dir, "--scenario", "plain", "--agents", "2", "--isolated",
		).want(t, command.ExitFailed, "something is wrong"),
	)["plain-2-apart"]
	if run["coverage"] != 1.0 || run["overlap"] != 1.0 || run["overlap_held"] != 1.0 {
		t.Errorf("coverage %v, overlap %v, held %v", run["coverage"], run["overlap"], run["overlap_held"])
	}
	if number(t, run, "repeated") != number(t, run, "pages") {
		t.Errorf("%v asked for again, %v pages", run["repeated"], run["pages"])
	}
	faults, _ := run["faults"].([]any)
	if !slices.ContainsFunc(faults, func(f any) bool { return strings.Contains(f.(string), "asked for again") }) {
		t.Errorf("what is wrong: %v", faults)
	}
	for _, name := range []string{"a1.log", "a2/report.json"} { // what went wrong can be looked at
		if _, err := os.Stat(filepath.Join(dir, "run-plain-2-apart", name)); err != nil {
			t.Error(err)
		}
	}
}

// An agent that is killed again and again, and comes back each time, loses nothing.
func TestAgentsKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("takes ten seconds") // -short is for the seconds between two edits; it runs in CI
	}
	dir := filepath.Join(t.TempDir(), "agents")
	run := runsOf(t, agentsRun(t, dir, "--scenario", "kill", "--among", "1", "--fault-host-delay", "300ms",
		"--fault-ip-delay", "20ms", "--kill-every", "1500ms",
		"--rejoin", "100ms").want(t, command.ExitDone))["kill"]
	kills := number(t, run, "kills")
	each, _ := run["each"].([]any)
	if len(each) != 1 || kills < 1 || number(t, each[0].(map[string]any), "lives") != kills+1 || run["coverage"] != 1.0 ||
		number(t, run, "impolite") != 0 {
		t.Errorf("%v", run)
	}
}

// A run that does not end is ended, and each agent's last report is told.
func TestAgentsStuck(t *testing.T) {
	if testing.Short() {
		t.Skip("takes four seconds") // -short is for the seconds between two edits; it runs in CI
	}
	dir := filepath.Join(t.TempDir(), "agents")
	agentsRun(t, dir, "--scenario", "plain", "--agents", "2", "--isolated", "--host-delay", "1m", "--most", "3s").want(
		t, command.ExitFailed, "plain-2-apart", "not over after 3s", "--most", "a1 is running", "a2 is running", "a2.log",
	)
	ended(t, filepath.Join(dir, "run-plain-2-apart"))
}

// An interrupt ends the benchmark, and no agent outlives it.
func TestAgentsInterrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("takes two seconds") // -short is for the seconds between two edits; it runs in CI
	}
	dir := filepath.Join(t.TempDir(), "agents")
	cmd, errs := child(
		t, "agents", "--program", os.Getenv("PROGRAM_UNDER_TEST"), "--dir", dir, "--scenario", "plain", "--agents",
		"2", "--isolated",
		"--hosts", "30",
		"--host-delay", "1m", "--json",
	)
	status := func(id string) result {
		return orbweaver(t, "ctl", "status", "--dir", filepath.Join(dir, "run-plain-2-apart", id))
	}
	for _, id := range []string{"a1", "a2"} {
		soon(t, "an answer of "+id, func() bool { return status(id).code == command.ExitDone })
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the status is looked at below
	if code := cmd.ProcessState.ExitCode(); code != command.ExitFailed ||
		!strings.Contains(errs.String(), "interrupted; all agents were ended") {
		t.Errorf("exit status %d:\n%s", code, errs)
	}
	ended(t, filepath.Join(dir, "run-plain-2-apart"))
}

// ended says that no agent of a run is left.
func ended(t *testing.T, run string) {
	t.Helper()
	for _, id := range []string{"a1", "a2"} {
		orbweaver(t, "ctl", "pause", "--dir", filepath.Join(run, id)).want(t, command.ExitFailed, "no crawl is running there")
	}
}

func TestAgentsRefusals(t *testing.T) {
	dir := t.TempDir()
	agentsRun(t, dir, "--scenario", "party").want(t, command.ExitFailed, `no scenario is called "party"`, "plain")
	agentsRun(t, dir, "--scenario", "lose", "--among", "1").want(t, command.ExitFailed, "want at least 2")
	writeFile(t, filepath.Join(dir, "letters"), "mine")
	agentsRun(t, dir).want(t, command.ExitUsage, "--dir", "holds letters")
}
