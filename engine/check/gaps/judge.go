package gaps

import (
	"math"
	"slices"
	"time"
)

// never is later than all times of a list.
const never = math.MaxInt64

// judge looks at the exchanges of one key after the other, in the order of their start.
type judge struct {
	*auditor
	out    *Gaps
	isSite bool

	key        uint64
	hasKey     bool
	prev       exchange
	hasPrev    bool
	binding    exchange // the earlier exchange that lets the next one wait longest
	due        int64    // by it
	crawlDelay int64    // of the site; unknownDelay
	worst      gap      // of the key
	hasWorst   bool
}

// newJudge returns a judge that counts into out. The delays that were in force are ends of the ranges that are printed.
func newJudge(a *auditor, out *Gaps, isSite bool) judge {
	ends := usualEnds()
	for _, one := range a.eras.list {
		stated := one.delays.orElse(a.o.Stated)
		delay := stated.IP
		if isSite {
			delay = stated.Host
		}
		if len(ends) < rangesMost && delay > 0 && !slices.Contains(ends, delay) {
			ends = append(ends, delay)
		}
	}
	slices.Sort(ends)
	out.sizes.ends, out.sizes.ranges = ends, make([]int64, len(ends)+1)
	return judge{auditor: a, out: out, isSite: isSite}
}

// all judges a list.
func (j *judge) all(l *list) error {
	if err := l.each(j.exchange); err != nil {
		return err
	}
	j.finishKey()
	return nil
}

// exchange judges the gap before one exchange.
func (j *judge) exchange(key uint64, x *exchange) error {
	if !j.hasKey || key != j.key {
		j.finishKey()
		j.key, j.hasKey, j.hasPrev, j.due, j.crawlDelay = key, true, false, math.MinInt64, 0
		j.out.Keys++
	}
	if x.flags&isAnnounced != 0 {
		j.crawlDelay = x.announce
		return nil
	}
	if err := j.tickJudge(); err != nil {
		return err
	}
	j.afterIdle(x)
	if x.announce != noDelay {
		j.crawlDelay = x.announce
	}
	j.keep(x)
	return nil
}

// finishKey offers the worst gap of the key to the report.
func (j *judge) finishKey() {
	if j.hasWorst {
		j.out.offer(&j.worst, j.o.Top)
	}
	j.hasWorst = false
}

// keep makes x the previous exchange.
func (j *judge) keep(x *exchange) {
	j.prev, j.hasPrev = *x, true
	end, _ := x.end()
	if least, _ := j.delay(x); end+least.micros >= j.due {
		j.binding, j.due = *x, end+least.micros
	}
}

// afterIdle judges the gap before an exchange by what its record says of requests without a record.
func (j *judge) afterIdle(x *exchange) {
	if j.o.RecordedOnly {
		j.pair(x, "")
		return
	}
	if x.idle < 0 {
		why := NotStated
		if j.isSite && x.flags&hasField != 0 { // the record would say it, if the run had asked the site before
			why = FirstOfRun
		}
		j.pair(x, why)
		return
	}
	if j.hasPrev {
		switch shortest, longest := j.between(&j.prev, x); {
		case x.idle > longest+2*idleError: // the clock was set, or the delay was changed meanwhile
			j.pair(x, NotStated)
			return
		case shortest <= x.idle+2*idleError:
			j.pair(x, "")
			return
		}
	}
	// The previous exchange has no record. Its end is known, and no more.
	other := newExchange(x.start - x.idle - idleError)
	other.took, other.era, other.place = 0, x.era, x.place
	other.host, other.ip, other.limit, other.flags = x.host, x.ip, x.limit, x.flags&coarseStart|isUnrecorded
	j.out.Unrecorded++
	j.pair(&other, Unrecorded)
	j.keep(&other)
	j.pair(x, "")
}

// between returns the shortest and the longest time from the end of an exchange to the start of the next one.
func (j *judge) between(a, b *exchange) (shortest, longest int64) {
	earliest, latest := a.end()
	shortest, longest = math.MinInt64, b.startLatest()-earliest
	if latest != never {
		shortest = b.start - latest
	}
	if j.eras.list[a.era].dir != j.eras.list[b.era].dir {
		skew := j.o.ClockSkew.Microseconds()
		longest += skew
		if shortest != math.MinInt64 {
			shortest -= skew
		}
	}
	return shortest, longest
}

// delay returns the least and the largest delay that may have been in force after an exchange.
func (j *judge) delay(x *exchange) (least, most required) {
	stated := j.eras.list[x.era].delays.orElse(j.o.Stated)
	own, general, rule := x.ip, stated.IP, RuleIPDelay
	if j.isSite {
		own, general, rule = x.host, stated.Host, RuleHostDelay
	}
	if own < 0 && general >= 0 {
		own = general.Microseconds()
	}
	least, most = required{max(own, 0), rule}, required{own, rule}
	if own < 0 {
		most.micros = never
	}
	if !j.isSite {
		return least, most
	}
	limit := stated.CrawlDelayMax.Microseconds()
	if x.limit >= 0 {
		limit = x.limit
	}
	if j.crawlDelay == unknownDelay {
		most = most.atLeast(limit, RuleCrawlDelay)
	} else {
		least = least.atLeast(min(j.crawlDelay, limit), RuleCrawlDelay)
		most = most.atLeast(min(j.crawlDelay, limit), RuleCrawlDelay)
	}
	wait := min(x.patience, stated.RetryAfterMax.Microseconds())
	return least.atLeast(wait, RuleRetryAfter), most.atLeast(wait, RuleRetryAfter)
}

// required is a delay, and why it is in force.
type required struct {
	micros int64
	rule   Rule
}

func (r required) atLeast(micros int64, rule Rule) required {
	if micros > r.micros {
		return required{micros, rule}
	}
	return r
}

// pair judges the gap before an exchange. With a doubt, a gap that seems to be kept is not provable.
func (j *judge) pair(x *exchange, doubt Reason) {
	if !j.hasPrev {
		return
	}
	a := &j.prev
	shortest, longest := j.between(a, x)
	least, most := j.delay(a)
	tolerance := j.o.Tolerance.Microseconds()
	if longest >= least.micros-tolerance { // an earlier one may still let it wait
		_, ofBinding := j.between(&j.binding, x)
		if wait, _ := j.delay(&j.binding); ofBinding < wait.micros-tolerance {
			a, longest, least = &j.binding, ofBinding, wait
		}
	}
	j.out.Gaps++
	told := shortest
	if a.flags&isUnrecorded != 0 {
		told += idleError // what the record says
	}
	told = max(told, min(least.micros, longest)) // within what is known of the gap, the delay was kept
	if shortest != math.MinInt64 && x.flags&isUnrecorded == 0 {
		j.out.sizes.observe(told)
	}
	one := gap{
		earlier: a.place, later: x.place, hasEarlier: a.flags&isUnrecorded == 0, hasLater: x.flags&isUnrecorded == 0,
		micros: told, required: least,
	}
	var why Reason
	switch {
	case longest < least.micros-tolerance:
		one.micros, one.isViolated = longest, true
		if longest < -tolerance {
			one.required.rule = RuleOneAtATime
		}
	case doubt != "":
		why = doubt
	case shortest == math.MinInt64:
		why = NoDuration
	case most.micros == never:
		why = NoDelay
	case shortest >= most.micros-tolerance:
	case shortest >= least.micros-tolerance:
		why = NoCrawlDelay
	default:
		why = Imprecise
	}
	j.count(&one, why)
}

// count counts a judged gap. why says why it is not provable, if it is not.
func (j *judge) count(one *gap, why Reason) {
	verdict := Kept
	switch {
	case one.isViolated:
		verdict = Violated
		j.out.Violated++
	case why != "":
		verdict = NotProved
		j.out.doubt(why)
	default:
		j.out.Kept++
	}
	if verdict != NotProved {
		j.noteWorst(one)
	}
	said := Judgement{
		ByAddress: !j.isSite, Verdict: verdict, Reason: why, Gap: time.Duration(one.micros) * time.Microsecond,
		Required: time.Duration(one.required.micros) * time.Microsecond,
	}
	if one.hasEarlier {
		said.Earlier = j.placeOf(one.earlier)
	}
	if one.hasLater {
		said.Later = j.placeOf(one.later)
	}
	j.o.Judged(said)
}

// noteWorst keeps the worst gap of the key, and counts its violations.
func (j *judge) noteWorst(one *gap) {
	violations := int64(0)
	if j.hasWorst {
		violations = j.worst.violations
	}
	if !j.hasWorst || compareGaps(one, &j.worst) < 0 {
		j.worst, j.hasWorst = *one, true
	}
	if one.isViolated {
		if violations++; violations == 1 {
			j.out.Offenders++
		}
	}
	j.worst.violations = violations
}

func (j *judge) placeOf(p place) Place { return Place{j.files[p.file()].name, p.offset()} }
