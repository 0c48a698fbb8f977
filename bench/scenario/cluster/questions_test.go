package cluster

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine/cluster/message"
	"orbweaver/engine/operate/doctor"
	"orbweaver/engine/operate/explain"
	"orbweaver/engine/operate/operator"
	"orbweaver/internal/simweb"
)

// question asks an agent a question of its operator.
func (a *agent) question(name string, values map[string][]string) any {
	t := a.testCluster.t
	t.Helper()
	a.calls <- struct{}{}
	defer func() { <-a.calls }()
	answer, err := a.crawl.Operator().AnswerQuestion(t.Context(), name, values)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func (a *agent) explain(url string) *explain.Evidence {
	a.testCluster.t.Helper()
	return a.question("explain", map[string][]string{"url": {url}}).(*explain.Evidence)
}

// An agent that is asked about a URL of another agent asks that agent. If it does not answer, the verdict says so.
func TestExplain_asksTheOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTestCluster(t, testbed.SmallWorld(*testbed.FirstSeed+790, simweb.Plain()), 2)
		running := b.startAll(b.names)
		testbed.Wait(20 * time.Second)
		theirs, stored := "", 0
		for h := range b.rig.World.Config().Hosts {
			url := "http://" + b.rig.World.Host(h) + "/"
			e := running["agent-0"].explain(url)
			if e.Owner == "" {
				continue
			}
			if e.Says == nil || e.Owner != "agent-1" || e.Result != e.Says.Result || !e.Says.Running || e.Says.URL != url {
				t.Fatalf("%s: %+v", url, e)
			}
			if theirs = url; len(e.Says.Captures) > 0 {
				stored++
			}
		}
		if theirs == "" || stored == 0 {
			t.Fatalf("no host of the other agent, or none of %d pages stored", stored)
		}
		b.hub.mu.Lock()
		b.hub.staysUnanswered = func(_, _ string, question []byte) bool { return question[0] == message.QuestionURL }
		b.hub.mu.Unlock()
		began := time.Now()
		e := running["agent-0"].explain(theirs)
		if e.Result != explain.Elsewhere || !strings.Contains(e.Verdict, "did not answer") || len(e.Notes) == 0 ||
			time.Since(began) > 6*time.Second {
			t.Errorf("after %v: %+v", time.Since(began), e)
		}
		b.wait()
	})
}

// An agent that waits for the others says so, and not that its operator has paused it.
func TestDoctor_namesAgentsThatAreMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTestCluster(t, testbed.SmallWorld(*testbed.FirstSeed+791, simweb.Plain()), 2)
		first := b.start(t.Context(), b.names[0])
		testbed.Wait(30 * time.Second)
		said := first.question("doctor", nil).(operator.Diagnoses).Diagnoses[0]
		if said.Cause != doctor.Agents || !strings.Contains(said.Text, "waiting for the other agents") {
			t.Errorf("%+v", said)
		}
		b.start(t.Context(), b.names[1])
		b.wait()
	})
}

// Another agent takes no messages: the doctor names it when more URLs wait for it than this agent has itself.
func TestDoctor_namesASlowAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTestCluster(t, testbed.SmallWorld(*testbed.FirstSeed+792, simweb.Plain()), 2)
		wellAgain := make(chan struct{})
		b.hub.onSend = func(ctx context.Context, _, to string, _ []byte) error {
			if to != b.names[1] {
				return nil
			}
			select {
			case <-wellAgain:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		running := b.startAll(b.names)
		testbed.Wait(5 * time.Minute)
		all := running[b.names[0]].question("doctor", nil).(operator.Diagnoses).Diagnoses
		if said := all[0]; said.Cause != doctor.Agents || !strings.Contains(said.Text, "URLs wait for "+b.names[1]) {
			t.Errorf("%+v", all)
		}
		close(wellAgain)
		b.wait()
	})
}
