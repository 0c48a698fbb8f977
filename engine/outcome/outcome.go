// Package outcome defines what became of an attempt to fetch a URL, or of a URL that was never attempted.
//
// An Outcome is a value and not an error: on the web, failures are normal. It knows no HTTP types and carries no text
// except its name. What follows from an outcome (retry, wait, give up the site) is decided by engine/politeness.
//
// The names (String) appear in report.json, crawl.log and the metrics: see docs/names.md.
package outcome

// Outcome is what became of one attempt or one URL.
type Outcome uint8

// The outcomes. Their numbers are part of the journal's format: add new ones before count, and never move one.
const (
	None Outcome = iota

	// Answers: there is a response.
	OK            // 2xx, complete
	Redirect      // 3xx with a Location that can be followed
	NotModified   // 304
	OtherStatus   // 1xx as final response, 3xx without a usable Location, 6xx and above
	ClientError   // 4xx except 429
	TooMany       // 429
	ServerError   // other 5xx
	Unavailable   // 502, 503, 521 to 523: a proxy answers for a site that is down
	CutLength     // the body is longer than --max-body: stored truncated
	CutTime       // the deadline or the minimum rate ended the body: stored truncated
	CutDisconnect // the connection ended before the body was complete: stored truncated

	// Faults of the exchange: there is no usable response.
	Protocol       // the bytes are not HTTP
	HeaderTooLarge // header block or line too long, or too many interim responses
	HeaderTimeout  // no complete header in time
	Reset          // connection reset or closed before a complete header
	ConnectTimeout // no connection in time
	Refused        // connection refused
	Unreachable    // no route, network or host unreachable
	TLSFault       // handshake failed, timed out, or was refused by --tls strict
	ProxyFault     // the proxy refused or could not be reached

	// Faults of name resolution.
	NameNotFound // NXDOMAIN, or the name has no address
	NameFault    // SERVFAIL, REFUSED or timeouts: a fault of the name servers

	// Refused by this crawler; no request was made.
	BlockedAddress    // special-purpose address that --allow-net does not allow
	BlockedPort       // port not allowed by --allow-port
	RobotsDenied      // robots.txt forbids it
	RobotsUnreachable // robots.txt could not be fetched, which disallows everything
	Filtered          // refused by the --fetch filter
	Blocked           // host blocked by the operator
	QuotaHost         // --max-per-host reached
	TooManyRedirects  // too many redirects
	SiteGone          // the site was given up while the URL was queued
	GivenUp           // the site failed for longer than --give-up while the URL was queued
	Cancelled         // the crawl stopped during the attempt; not counted, the URL stays queued

	// NoMemory: the body was truncated because no page memory was free.
	NoMemory

	// LocalFault: no connection could be tried, because this machine has no file descriptor, port or socket memory
	// left. It does not count as an attempt, and the URL stays queued.
	LocalFault

	// Stale: a persistent connection ended before the first byte of the response. Usually the server had closed it
	// already. It may also have read the request, so the host delay runs before the next try.
	Stale

	// Refused by this crawler; added later.
	Novelty      // similar URLs brought nothing new: see engine/novelty
	QuotaDomain  // --max-per-domain or --max-hosts-per-domain reached
	QuotaAddress // --max-hosts-per-ip reached
	HandedOver   // another agent owns the host now, and has the URL
	Recovered    // the page is already stored: by another agent, or by this one when it owned the host before
	count
)

// Count is the number of outcomes: the length of arrays that are indexed by Outcome.
const Count = int(count)

// Class groups outcomes by what they show about the site.
type Class uint8

// The classes.
const (
	ClassNone    Class = iota
	ClassAnswer        // the site answered; the URL is done
	ClassBusy          // the site asks to slow down (429, 503)
	ClassFault         // a temporary fault: worth another try
	ClassHost          // the site cannot be reached or resolved, which concerns all its URLs
	ClassRefusal       // a decision of this crawler; no request was made
)

// String returns the name of o as report.json, crawl.log and the metrics show it.
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

// Class returns what o shows about the site.
func (o Outcome) Class() Class {
	switch o {
	case OK, Redirect, NotModified, OtherStatus, ClientError, CutLength, NoMemory:
		return ClassAnswer
	case TooMany, Unavailable:
		return ClassBusy
	case ServerError,
		CutTime,
		CutDisconnect,
		Protocol,
		HeaderTooLarge,
		HeaderTimeout,
		Reset,
		TLSFault,
		ProxyFault,
		Stale:
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

// HasResponse reports whether a response head was received, so that a record can be stored.
func (o Outcome) HasResponse() bool {
	return (o >= OK && o <= CutDisconnect) || o == NoMemory
}

// IsPageStatus reports whether an HTTP status is that of a page: 2xx.
func IsPageStatus(status int) bool { return status >= 200 && status < 300 }

// IsBodyCut says that the body of the page is not whole.
func (o Outcome) IsBodyCut() bool {
	switch o {
	case CutLength, CutTime, CutDisconnect, NoMemory:
		return true
	default:
		return false
	}
}
