package schedule

import (
	"bytes"
	"errors"
	"time"

	"orbweaver/engine/net/robots"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
	"orbweaver/internal/urlx"
	"orbweaver/workbench"
)

// SettleRobots gives the result of a redirected robots.txt to the site that waits for it, or to the agent that owns it.
func (r *Returner) SettleRobots(result *site.RobotsResult) error {
	if r.Cluster.SendResult(result) {
		return nil
	}
	return r.DeliverRobots(result)
}

// failRobots tells a site that its robots.txt cannot be had.
func (r *Returner) failRobots(origin []byte) error {
	return r.SettleRobots(&site.RobotsResult{Site: origin, Unreachable: true})
}

// RedirectRobots follows the redirect of a robots.txt, or lets it wait for its target: see RobotsTargets.
func (r *Returner) RedirectRobots(redirect *site.RobotsRedirect) error {
	if r.Cluster.SendRedirect(redirect) {
		return nil
	}
	if bytes.Equal(redirect.Site, redirect.Origin) {
		return r.returnRedirect(redirect)
	}
	now, path := time.Now(), queued.MustDecode(redirect.Item).Rest
	if a, known := r.Robots.answerOf(append(bytes.Clone(redirect.Site), path...), now); known {
		a.isOld, a.until = true, a.at.Add(targetFailureLife)
		return r.answerRedirect(redirect, &a, now)
	}
	a, waits := &robotsAnswer{failed: true, at: now}, false
	var refused []*site.RobotsRedirect
	err := r.Sites.UseOrAdd(redirect.Site, func(vs *visit.State) {
		v := r.Workbench.Site(vs).View()
		isBusy := isBusy(&v)
		switch rules, known := rulesOf(&v, path, now); {
		case known:
			a = rules
		case v.State == workbench.Parked:
			a.until, a.isOld = now.Add(targetFailureLife), !r.Robots.isCycle(redirect.Site, redirect.Origin)
		case isBusy && r.Robots.hasFailed(redirect.Origin, now), !r.Robots.add(redirect, path):
		default:
			waits = true
			refused = r.requestTarget(vs, redirect.Site, isBusy, now)
		}
	})
	if !waits && err == nil {
		err = r.answerRedirect(redirect, a, now)
	}
	return errors.Join(err, r.failAll(refused))
}

// returnRedirect puts a redirect that leads back to the site that it is for at the head of that site.
func (r *Returner) returnRedirect(redirect *site.RobotsRedirect) error {
	sent := false
	err := r.Sites.UseOrAdd(redirect.Site, func(vs *visit.State) {
		if sent = r.Workbench.PushFront(vs, redirect.Item); sent {
			r.Workbench.Unpark(vs, nil)
		}
	})
	r.WakeFeeder() // if it came from another agent, nothing else wakes the Feeder
	if err == nil && !sent {
		err = r.failRobots(redirect.Origin)
	}
	return err
}

// rulesOf returns the rules of a site as the answer of its own robots.txt, if it has rules that do not expire soon.
func rulesOf(v *workbench.View[site.State], path []byte, now time.Time) (a *robotsAnswer, known bool) {
	if string(path) != robots.FilePath || v.Data.NeedsRobots(now) {
		return nil, false
	}
	return &robotsAnswer{rules: v.Data.Rules, at: site.RulesFetchedAt(&v.Data)}, true
}

// isBusy reports whether a site has URLs in its queue.
func isBusy(v *workbench.View[site.State]) bool {
	return v.Queued > 0 || v.OnDisk > 0 || v.State == workbench.Leased
}

// requestTarget puts the next request for other sites at the head of a site, if it gets one now. It returns the
// redirects to a dead site.
func (r *Returner) requestTarget(
	vs *visit.State, key []byte, isBusy bool, now time.Time,
) (refused []*site.RobotsRedirect) {
	item := r.Robots.next(key, isBusy, now)
	if item == nil {
		return nil
	}
	if !r.Workbench.PushFront(vs, item) {
		return r.Robots.takeAll(key)
	}
	r.WakeFeeder() // if it came from another agent, nothing else wakes the Feeder
	return nil
}

// answerRedirect gives the site that a redirect is for the answer of its target, or follows a redirect of the target.
func (r *Returner) answerRedirect(redirect *site.RobotsRedirect, a *robotsAnswer, now time.Time) error {
	result := &site.RobotsResult{
		Site: redirect.Origin, Rules: a.rules, Unreachable: a.failed, Fault: a.fault, Age: now.Sub(a.at),
		Wait: max(a.until.Sub(now), 0), IsKnown: a.isOld,
	}
	if a.to == "" {
		return r.SettleRobots(result)
	}
	it := queued.MustDecode(redirect.Item)
	if it.Redirects >= robots.RedirectsMax {
		result.Rules, result.Unreachable, result.Fault = robots.AllowAll(), false, robots.NoFault
		return r.SettleRobots(result)
	}
	key, path := urlx.Split([]byte(a.to))
	it.Redirects++
	it.RobotsOf, it.Rest = redirect.Origin, path
	next := &site.RobotsRedirect{Site: bytes.Clone(key), Origin: redirect.Origin, Item: queued.Append(nil, &it)}
	return r.RedirectRobots(next)
}

// failAll tells the sites that wait for redirects that their robots.txt cannot be had.
func (r *Returner) failAll(redirects []*site.RobotsRedirect) (err error) {
	for _, redirect := range redirects {
		err = errors.Join(err, r.failRobots(redirect.Origin))
	}
	return err
}

// settleTarget gives the answer of a URL to the sites that wait for it. acquired is when the Visit began that has it.
func (r *Returner) settleTarget(answer *site.RobotsAnswer, acquired, now time.Time) error {
	key, path := urlx.Split(answer.URL)
	a := &robotsAnswer{
		rules: answer.Rules, to: string(answer.RedirectsTo), failed: answer.Failed, fault: answer.Fault,
		at: now.Add(-answer.Age),
	}
	var waiting, refused []*site.RobotsRedirect
	err := r.Sites.UseOrAdd(key, func(vs *visit.State) {
		v, nextAt := r.Workbench.Site(vs).View(), now
		isBusy := isBusy(&v)
		if isBusy {
			turn := max(v.Due.Sub(acquired), now.Sub(acquired))
			nextAt = now.Add(targetTurns * min(turn, targetTurnMax))
		}
		waiting = r.Robots.endWait(key, path, a, nextAt)
		refused = r.requestTarget(vs, key, isBusy, now)
	})
	it := queued.MustDecode(answer.Item)
	if !hasOrigin(waiting, it.RobotsOf) { // the request was made before a resume
		waiting = append(waiting, &site.RobotsRedirect{Site: key, Origin: bytes.Clone(it.RobotsOf), Item: answer.Item})
	}
	for _, redirect := range waiting {
		if a.failed {
			r.Robots.noteFailure(redirect.Origin, now)
		}
		err = errors.Join(err, r.answerRedirect(redirect, a, now))
	}
	return errors.Join(err, r.failAll(refused))
}

func hasOrigin(redirects []*site.RobotsRedirect, origin []byte) bool {
	for _, redirect := range redirects {
		if bytes.Equal(redirect.Origin, origin) {
			return true
		}
	}
	return false
}

// RequestTargets puts requests for other sites, whose time has come, at the head of their sites. It also ends the wait
// for sites that are dead or went to another agent: owns says which sites this agent owns. The Distributor calls it
// within its steps.
func (r *Returner) RequestTargets(now time.Time, owns func(site []byte) bool) error {
	next, asked := r.Robots.due(now)
	var err error
	for _, key := range next {
		var refused []*site.RobotsRedirect
		err = errors.Join(err, r.Sites.UseOrAdd([]byte(key), func(vs *visit.State) {
			refused = r.requestTarget(vs, []byte(key), false, now)
		}), r.failAll(refused))
	}
	for _, key := range asked {
		isLost := !owns([]byte(key))
		if !isLost {
			err = errors.Join(err, r.Sites.UseOrAdd([]byte(key), func(vs *visit.State) {
				isLost = r.Workbench.Site(vs).IsDead()
			}))
		}
		if isLost {
			for _, redirect := range r.Robots.takeAll([]byte(key)) {
				err = errors.Join(err, r.RedirectRobots(redirect))
			}
		}
	}
	return err
}

// DeliverRobots gives the result of a redirected robots.txt to the site that waits for it.
func (r *Returner) DeliverRobots(result *site.RobotsResult) error {
	return r.Sites.Use(result.Site, func(vs *visit.State) {
		now := time.Now()
		if result.Rules != nil {
			delay, _ := result.Rules.CrawlDelay()
			r.Workbench.Site(vs).Postpone(now.Add(r.Live.SiteDelay(result.Site, delay)), time.Time{})
		}
		tries := int8(0)
		r.Workbench.Unpark(vs, func(s *site.State) {
			result.Apply(s, now)
			tries = s.RobotsTries
		})
		if pause := max(site.RobotsRetryWait(tries), result.Wait); result.Unreachable && pause > 0 {
			r.Workbench.Site(vs).Postpone(now.Add(pause), time.Time{})
		}
		r.WakeFeeder() // if it came from another agent, nothing else wakes the Feeder
	})
}
