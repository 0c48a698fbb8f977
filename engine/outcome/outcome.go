// Package outcome says what became of an attempt to fetch a URL, or of a URL that was never attempted.
//
// An Outcome is a value, not an error: on the open web failing is ordinary. It knows no HTTP types and carries no text
// beyond its name. What follows from it (retry, wait, give up the site) is the business of engine/politeness.
package outcome

// Outcome is what became of one attempt, or of one URL.
type Outcome uint8

// The outcomes. The order is part of the journal's format: new ones are added before count, none is ever moved.
const (
	None Outcome = iota

	// Answers: a response came.
	OK            // 2xx, whole
	Redirect      // 3xx with a Location that can be followed
	NotModified   // 304
	OtherStatus   // 1xx as final answer, 3xx without a usable Location, 6xx and beyond
	ClientError   // 4xx but 429
	TooMany       // 429
	ServerError   // other 5xx
	Unavailable   // 502, 503, and 521 to 523: the site is down behind the server that answers
	CutLength     // more body than the limit: the rest was dropped, the page is kept
	CutTime       // the total deadline or the minimum rate ended the body; what came is kept
	CutDisconnect // the body ended before its framing said it would; what came is kept

	// Faults of the exchange: no usable response.
	Protocol       // bytes that are not HTTP
	HeaderTooLarge // header block or line over the limit, or too many interim responses
	HeaderTimeout  // no whole header in time
	Reset          // connection reset or closed before a whole header
	ConnectTimeout // no connection in time
	Refused        // connection refused
	Unreachable    // no route, network or host unreachable
	TLSFault       // handshake failed or timed out, or refused by --tls strict
	ProxyFault     // the proxy refused, or could not be reached

	// Faults of the name.
	NameNotFound // NXDOMAIN, or no address
	NameFault    // SERVFAIL, REFUSED, time-outs: the name servers' fault

	// Refusals of ours.
	BlockedAddress    // special-purpose address, not allowed by name
	BlockedPort       // port not in the list
	RobotsDenied      // robots.txt forbids it
	RobotsUnreachable // robots.txt could not be had and that means no
	Filtered          // the fetch filter said no
	Blocked           // host blocked by the operator
	QuotaHost         // --max-per-host reached
	TooManyRedirects  // the hop limit was reached
	SiteGone          // the site was given up while the URL was queued
	GivenUp           // the site failed for --give-up while the URL was queued
	Cancelled         // the crawl stopped during the attempt; not counted, the URL stays queued

	// NoMemory says a page's body was cut because no slab was free.
	NoMemory

	// LocalFault says that no connection could be tried: this machine has no more file descriptors, ports or socket memory.
	// Nobody was asked and nobody is to blame; it is not counted as an attempt, and the URL stays queued.
	LocalFault

	// Stale says that a connection that was kept from an earlier exchange ended before a byte of the answer came. Most of the
	// time the server had closed it already; it may also have read the request, so the site's delay runs before the next try.
	Stale

	// Refusals of ours that came later.
	Novelty      // what is like it brought nothing new: see engine/novelty
	QuotaDomain  // --max-per-domain or --max-hosts-per-domain reached
	QuotaAddress // --max-hosts-per-ip reached
	HandedOver   // another agent is responsible for the host now, and has the URL
	Recovered    // another agent has the page, or this one from a time when it was responsible for the host before
	count
)

// Count is the number of outcomes: arrays indexed by Outcome have this length.
const Count = int(count)

// Class groups outcomes by what they tell us about the site.
type Class uint8

// The classes.
const (
	ClassNone    Class = iota
	ClassAnswer        // the site answered; the URL is done
	ClassBusy          // the site asks us to slow down (429, 503)
	ClassFault         // something passing: worth another try
	ClassHost          // the site cannot be reached or resolved: every URL of it shares the fate
	ClassRefusal       // our own decision; no request was made
)

// names is indexed by Outcome. The names appear in report.json, the crawl log and the metrics.
func (o Outcome) String() string {
	switch o {
	case None:
		return "none"
	case OK:
		return "ok"
	case Redirect:
		return "redirect"
	case NotModified:
		return "not-modified"
	case OtherStatus:
		return "other-status"
	case ClientError:
		return "client-error"
	case TooMany:
		return "too-many-requests"
	case ServerError:
		return "server-error"
	case Unavailable:
		return "unavailable"
	case CutLength:
		return "cut-length"
	case CutTime:
		return "cut-time"
	case CutDisconnect:
		return "cut-disconnect"
	default:
		return o.faultString()
	}
}

func (o Outcome) faultString() string {
	switch o {
	case Protocol:
		return "protocol"
	case HeaderTooLarge:
		return "header-too-large"
	case HeaderTimeout:
		return "header-timeout"
	case Reset:
		return "reset"
	case ConnectTimeout:
		return "connect-timeout"
	case Refused:
		return "refused"
	case Unreachable:
		return "unreachable"
	case TLSFault:
		return "tls-fault"
	case ProxyFault:
		return "proxy-fault"
	case NameNotFound:
		return "name-not-found"
	case NameFault:
		return "name-fault"
	default:
		return o.refusalString()
	}
}

func (o Outcome) refusalString() string {
	switch o {
	case BlockedAddress:
		return "blocked-address"
	case BlockedPort:
		return "blocked-port"
	case RobotsDenied:
		return "robots-denied"
	case RobotsUnreachable:
		return "robots-unreachable"
	case Filtered:
		return "filtered"
	case Blocked:
		return "blocked"
	case QuotaHost:
		return "quota-host"
	case TooManyRedirects:
		return "too-many-redirects"
	case SiteGone:
		return "site-gone"
	case GivenUp:
		return "given-up"
	case Cancelled:
		return "cancelled"
	case NoMemory:
		return "no-memory"
	case LocalFault:
		return "local-fault"
	case Stale:
		return "stale"
	case Novelty:
		return "novelty"
	case QuotaDomain:
		return "quota-domain"
	case QuotaAddress:
		return "quota-address"
	case HandedOver:
		return "handed-over"
	case Recovered:
		return "recovered"
	default:
		return "unknown"
	}
}

// Class says what o tells us about the site.
func (o Outcome) Class() Class {
	switch o {
	case OK, Redirect, NotModified, OtherStatus, ClientError, CutLength, NoMemory:
		return ClassAnswer
	case TooMany, Unavailable:
		return ClassBusy
	case ServerError, CutTime, CutDisconnect, Protocol, HeaderTooLarge, HeaderTimeout, Reset, TLSFault, ProxyFault, Stale:
		return ClassFault
	case ConnectTimeout, Refused, Unreachable, NameNotFound, NameFault:
		return ClassHost
	case BlockedAddress, BlockedPort, RobotsDenied, RobotsUnreachable, Filtered, Blocked, QuotaHost,
		TooManyRedirects, SiteGone, GivenUp, Cancelled, LocalFault, Novelty, QuotaDomain, QuotaAddress, HandedOver, Recovered:
		return ClassRefusal
	default:
		return ClassNone
	}
}

// HasResponse says that a response head was received, so that there is something to archive.
func (o Outcome) HasResponse() bool {
	return (o >= OK && o <= CutDisconnect) || o == NoMemory
}
