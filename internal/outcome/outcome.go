// Package outcome defines what became of an attempt to fetch a URL, or of a URL that was never attempted.
//
// An Outcome is a value and not an error: on the web, failures are normal. It knows no HTTP types and carries no text
// except its name. What follows from an outcome (retry, wait, give up the site) is decided by engine/net/politeness.
//
// The names (String) appear in report.json, crawl.log and the metrics.
package outcome

// Outcome is what became of one attempt or one URL.
type Outcome uint8

// The outcomes. Their numbers are part of the journal's format: add new ones before count, and never move one.
const (
	None Outcome = iota

	// Answers: there is a response.
	OK                  // 2xx except 206, complete
	Redirect            // 3xx with a Location that can be followed
	NotModified         // 304 to a conditional request
	OtherStatus         // 1xx except 101 as final response, 3xx without a usable Location, 6xx and above
	ClientError         // other 4xx
	TooMany             // 429
	ServerError         // other 5xx
	Unavailable         // 502, 503, 521 to 523: a proxy answers for a site that is down
	TruncatedLength     // the body is longer than --max-body: stored truncated
	TruncatedTime       // the deadline or the minimum rate ended the body: stored truncated
	TruncatedDisconnect // the connection ended before the body was complete: stored truncated

	// Faults of the exchange: there is no usable response.
	Protocol       // the bytes are not HTTP
	HeaderTooLarge // header block or line too long, or too many interim responses
	HeaderTimeout  // no complete header in time
	Reset          // connection reset or closed before a complete header
	ConnectTimeout // no connection in time
	Refused        // connection refused
	Unreachable    // no route, network or host unreachable
	TLSFault       // handshake failed, timed out, or was refused by --tls strict
	ProxyFault     // the proxy, or another gateway, failed or answered in place of the site: see Way

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
	Novelty      // similar URLs brought nothing new: see engine/traps/novelty
	QuotaDomain  // --max-per-domain or --max-hosts-per-domain reached
	QuotaAddress // --max-hosts-per-ip reached
	HandedOver   // another agent owns the host now, and has the URL
	Recovered    // the page is already stored: by another agent, or by this one when it owned the host before

	// QuotaRequisites: beyond --max-requisites-per-page, or beyond what its site may have for the pages of the crawl.
	QuotaRequisites

	// Answers that are tried again; added later.
	Transient // 408 and 425: the server could not take this request, and another one may do
	Unasked   // 101, 206, 416, or 304 without a condition: an answer to another request than that of this crawler

	// Wall: a protection service answers in place of the page, with any status: see engine/page/wall.
	Wall
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

// description is what is declared of an outcome.
type description struct {
	name      string
	class     Class
	response  bool // a response head was received, so that a record can be stored
	truncated bool // the body is not whole
}

// descriptions has a row for each outcome. To add one, add its constant and its row; politeness.Policy decides what
// follows from it.
var descriptions = [Count]description{ //nolint:gochecknoglobals // a table
	None:                {name: "none"},
	OK:                  {name: "ok", class: ClassAnswer, response: true},
	Redirect:            {name: "redirect", class: ClassAnswer, response: true},
	NotModified:         {name: "not-modified", class: ClassAnswer, response: true},
	OtherStatus:         {name: "other-status", class: ClassAnswer, response: true},
	ClientError:         {name: "client-error", class: ClassAnswer, response: true},
	TooMany:             {name: "too-many-requests", class: ClassBusy, response: true},
	ServerError:         {name: "server-error", class: ClassFault, response: true},
	Unavailable:         {name: "unavailable", class: ClassBusy, response: true},
	TruncatedLength:     {name: "truncated-length", class: ClassAnswer, response: true, truncated: true},
	TruncatedTime:       {name: "truncated-time", class: ClassFault, response: true, truncated: true},
	TruncatedDisconnect: {name: "truncated-disconnect", class: ClassFault, response: true, truncated: true},
	Protocol:            {name: "protocol", class: ClassFault},
	HeaderTooLarge:      {name: "header-too-large", class: ClassFault},
	HeaderTimeout:       {name: "header-timeout", class: ClassFault},
	Reset:               {name: "reset", class: ClassFault},
	ConnectTimeout:      {name: "connect-timeout", class: ClassHost},
	Refused:             {name: "refused", class: ClassHost},
	Unreachable:         {name: "unreachable", class: ClassHost},
	TLSFault:            {name: "tls-fault", class: ClassFault},
	ProxyFault:          {name: "proxy-fault", class: ClassFault},
	NameNotFound:        {name: "name-not-found", class: ClassHost},
	NameFault:           {name: "name-fault", class: ClassHost},
	BlockedAddress:      {name: "blocked-address", class: ClassRefusal},
	BlockedPort:         {name: "blocked-port", class: ClassRefusal},
	RobotsDenied:        {name: "robots-denied", class: ClassRefusal},
	RobotsUnreachable:   {name: "robots-unreachable", class: ClassRefusal},
	Filtered:            {name: "filtered", class: ClassRefusal},
	Blocked:             {name: "blocked", class: ClassRefusal},
	QuotaHost:           {name: "quota-host", class: ClassRefusal},
	TooManyRedirects:    {name: "too-many-redirects", class: ClassRefusal},
	SiteGone:            {name: "site-gone", class: ClassRefusal},
	GivenUp:             {name: "given-up", class: ClassRefusal},
	Cancelled:           {name: "cancelled", class: ClassRefusal},
	NoMemory:            {name: "no-memory", class: ClassAnswer, response: true, truncated: true},
	LocalFault:          {name: "local-fault", class: ClassRefusal},
	Stale:               {name: "stale", class: ClassFault},
	Novelty:             {name: "novelty", class: ClassRefusal},
	QuotaDomain:         {name: "quota-domain", class: ClassRefusal},
	QuotaAddress:        {name: "quota-address", class: ClassRefusal},
	HandedOver:          {name: "handed-over", class: ClassRefusal},
	Recovered:           {name: "recovered", class: ClassRefusal},
	QuotaRequisites:     {name: "quota-requisites", class: ClassRefusal},
	Transient:           {name: "transient-error", class: ClassFault, response: true},
	Unasked:             {name: "unasked-status", class: ClassFault, response: true},
	Wall:                {name: "wall", class: ClassBusy, response: true},
}

// String returns the name of o as report.json, crawl.log and the metrics show it.
func (o Outcome) String() string {
	if o >= count {
		return "unknown"
	}
	return descriptions[o].name
}

// Class returns what o shows about the site.
func (o Outcome) Class() Class { return o.description().class }

// HasResponse reports whether a response head was received, so that a record can be stored.
func (o Outcome) HasResponse() bool { return o.description().response }

// IsBodyTruncated says that the body of the page is not whole.
func (o Outcome) IsBodyTruncated() bool { return o.description().truncated }

func (o Outcome) description() description {
	if o >= count {
		return description{}
	}
	return descriptions[o]
}

// IsPage reports whether an answer with outcome o and an HTTP status is a page: a wall never is.
func (o Outcome) IsPage(status int) bool { return o != Wall && IsPageStatus(status) }

// IsOfRate reports whether o is about the requests of this crawler and not about the server: an answer of robots.txt
// shows nothing about it.
func (o Outcome) IsOfRate() bool { return o == TooMany || o == Wall }

// IsPageStatus reports whether an HTTP status is that of a page: 2xx.
func IsPageStatus(status int) bool { return status >= 200 && status < 300 }
