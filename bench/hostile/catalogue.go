package hostile

// Entry is one case of the catalogue: what happens, and what a sound crawler makes of it.
type Entry struct{ ID, What, Expected string }

// Families are the kinds of cases, by the letter their ids begin with, in order.
var Families = []struct {
	Letter byte
	Name   string
}{
	{
		'H',
		"HTTP/1",
	}, {'Z', "compression"}, {'R', "redirects"}, {'D', "DNS"}, {'N', "network, addresses, TLS"}, {'B', "robots.txt"},
	{'P', "documents"}, {'U', "URLs"}, {'T', "traps and spam"}, {'S', "disk, process, machine"}, {'A', "control"},
	{'G', "several agents"}, {'X', "host against host"},
}

// Catalogue lists all cases. Numbers that are missing belong to what is not built (extractors, uploads, plug-ins).
var Catalogue = []Entry{
	{"H01", "the head comes a byte each ten seconds", "cut at the deadline for heads, header-timeout"},
	{
		"H02",
		"the body comes a byte each second, for ever",
		"cut for its rate or at the total deadline; what came is kept, truncated: time",
	},
	{"H03", "a connection is accepted, then silence", "cut at the deadline for heads"},
	{"H04", "a header line that never ends", "cut at 64 KiB a line, 256 KiB a block; what came is kept"},
	{"H05", "100,000 small header fields", "cut by count and by bytes"},
	{"H06", "a body that never ends, of no declared length", "cut at --max-body exactly, truncated: length"},
	{"H07", "bodies of exactly --max-body, one less, one more", "called cut only if a byte was dropped"},
	{"H08", "Content-Length larger than the body", "cut, disconnect, never called complete"},
	{"H09", "Content-Length smaller than what comes", "the surplus is no payload, the connection is not used again"},
	{
		"H10",
		"Content-Length -5, +5, 5 twice, 5 and 6, 0x5, 2^64, with spaces",
		"equal ones are one, different ones an error, what is no number counts for nothing, as in browsers; the record is " +
			"kept",
	},
	{"H11", "Content-Length and Transfer-Encoding together", "the chunks count, the connection is not used again"},
	{
		"H12",
		"chunk sizes that overflow, are negative or empty",
		"a protocol error; what came is kept, truncated: unspecified",
	},
	{"H13", "chunk extensions of a megabyte; ten million chunks of a byte", "both bounded"},
	{"H14", "no last chunk; trailers of rubbish; trailers of a megabyte", "disconnect; trailers are bounded"},
	{"H15", "a body without a head", "kept as it came, not taken for a page"},
	{
		"H16",
		"status lines without a reason or version, with two spaces, ICY, HTTP/3.7, up to four bytes before",
		"read if unambiguous, else an error; the bytes are kept",
	},
	{"H17", "status 000, 099, 600, 999, 20", "recorded as it is, and belongs to no class"},
	{
		"H18",
		"NUL, bare CR, bare LF, folded lines in the head",
		"NUL is an error, the others are read; kept as they came",
	},
	{"H19", "a Location with an encoded line break", "never a line break in a request or a record"},
	{"H20", "ten thousand interim answers", "cut after 20"},
	{"H21", "101 Switching Protocols", "recorded, the connection closed"},
	{"H22", "204 and 304 with a body", "the body is none, the connection is not used again"},
	{"H23", "rubbish behind the body on a kept connection", "never part of the next answer"},
	{"H24", "a second answer without a request", "URL B never gets the body of A"},
	{"H25", "the server closes a kept connection as we write", "one try more, which counts as a request"},
	{"H26", "data after Connection: close; a reset within the body", "disconnect; what came is kept"},
	{"H27", "no content type, a wrong one, one of 100 KB, ten thousand charsets", "bounded"},
	{"H28", "endless multipart, server-sent events, internet radio", "cut by time and size"},
	{
		"H29",
		"a thousand cookies, one of a megabyte, for com, for another host",
		"bounded per site; never sent elsewhere",
	},
	{"H30", "Retry-After and dates beyond reason", "clamped to a day"},

	{"Z01", "10 MB of gzip that unpack to 10 GB", "reading stops by ratio and size; all bytes are kept"},
	{"Z02", "the same of brotli, zstd, deflate; a zstd window of 2 GB", "the same; windows are bounded"},
	{"Z03", "twenty layers of gzip", "one is removed; the page is kept"},
	{"Z04", "a content encoding that lies", "read for what it is, or raw; never fatal"},
	{"Z05", "gzip that is cut, fails its sum, has a tail, has many members", "what unpacks is parsed; no disconnect"},
	{"Z06", "packed sitemaps without end, an index of itself", "the limits of the protocol, loops seen"},

	{"R01", "redirects to itself, in pairs, in rings of thirty", "ten hops at most, each in its host's turn"},
	{"R02", "a chain whose query grows without end", "ends at the hop limit"},
	{"R03", "http to https and back for want of a cookie", "cut, the reason recorded"},
	{
		"R04",
		"Location empty, relative, //host, \\\\host, http:///x, of 64 KB, of control bytes",
		"read as browsers do, or dropped",
	},
	{"R05", "Location of file:, gopher:, javascript:, data:, ftp:", "not followed"},
	{"R06", "a redirect to a private address", "refused at the connection, blocked-address"},
	{"R07", "300, 304, 305, 306 with Location; Refresh and meta refresh", "by the standard; a refresh is a link"},
	{"R08", "very many hosts redirect to one", "its queue is bounded, its politeness as ever"},

	{"D01", "a million names that do not exist", "the other hosts do not notice"},
	{
		"D02",
		"SERVFAIL, REFUSED, no answer",
		"remembered for a minute to a quarter of an hour, doubling, never for ever; a host that has never answered is " +
			"given up after three quarters of an hour of it",
	},
	{"D03", "no name server answers for ten minutes", "hosts wait, none is given up, it goes on by itself"},
	{"D04", "a ring and a chain of fifty CNAMEs", "an error after twelve"},
	{"D05", "TTLs of 0, of 2^31-1, negative", "clamped"},
	{"D06", "truncated over UDP, refused over TCP", "asked again, then an error"},
	{
		"D07",
		"answers with a wrong id or question, a flood of forged ones",
		"passed over; ids, ports and case are random",
	},
	{"D08", "200 addresses; IPv6 alone; mapped ones", "a bounded list; IPv6 alone works"},
	{"D09", "names of 255 bytes, of a label of 64, of odd signs, of special zones", "by a table"},
	{"D10", "a zone in which every name exists", "bounded per registrable domain"},
	{"D11", "a host whose address changes at every question", "polite to the host and to each address"},
	{"D12", "answers of 0.0.0.0, 127.0.0.1, 255.255.255.255", "refused, recorded"},

	{"N01", "a host that swallows, refuses or cannot be reached", "the connection times out, the host waits"},
	{"N02", "nine of ten packets lost, or 30 s a round trip", "progress or a clean time-out"},
	{
		"N03",
		"small packets pass and large ones do not",
		"a time-out, by the name of what was waited for: handshake, head or body",
	},
	{
		"N10",
		"loopback, private, link-local and all other special addresses, in every notation",
		"refused where the connection is made, on every path",
	},
	{
		"N11",
		"a name that is public when asked and private when connected to",
		"the address that was judged is the one connected to",
	},
	{
		"N12",
		"links to ports 22, 25, 6379",
		"refused by the list of ports; those of browsers' bad list even where an address is allowed",
	},
	{
		"N13",
		"certificates expired, self-signed, of another name",
		"fetched and noted; --tls strict refuses. Whether one was revoked is not looked up: it would tell others what is " +
			"crawled",
	},
	{"N14", "a handshake that hangs or drips", "ten seconds"},
	{
		"N15",
		"TLS 1.0 alone, a chain of a megabyte",
		"refused by name, with no option for old versions; chains are bounded to 128 KiB",
	},
	{
		"N17",
		"HTTP/2: floods of frames and fields, padding, push, other streams, no window, resets, GOAWAY",
		"only with --http2; heads of 256 KiB, 1000 frames that bring nothing; then a fault of the protocol or a reset",
	},
	{"N18", "no local port is left", "the crawl slows down, no host is to blame; other source addresses are not taken"},
	{"N19", "the tables of a router are full", "fewer fetchers go on until it is over, and the log says why"},
	{"N20", "the network goes and comes back", "no host is given up, on within 30 s"},

	{
		"B01",
		"500, 503, silence, reset",
		"nothing is allowed; a copy of less than a day is used; after 30 days as RFC 9309 says",
	},
	{"B02", "401, 403, 404, 410; 429", "the first allow, the last does not"},
	{"B03", "six redirects; redirects to another host", "five are followed; the rules are the first host's"},
	{"B04", "500 KiB and a byte; a gigabyte", "500 KiB are read, to the last whole line"},
	{"B05", "BOM, UTF-16, CR, NUL, a page in HTML", "lines that are no rules are none, in linear time"},
	{"B06", "5,000 stars in a rule", "linear, a millisecond a URL"},
	{"B07", "percent signs, case, $ in the middle", "as RFC 9309 and Google's cases say"},
	{"B08", "Crawl-delay 0, -1, 1e9, 10s, 1.5, twice", "read with patience, capped, never less than ours"},
	{
		"B09",
		"robots.txt forbids all from one day to the next",
		"what is queued is dropped when it expires, and counted",
	},
	{"B10", "robots.txt of ten million hosts", "200 bytes a host in memory at most"},

	{"P01", "a million nested elements", "linear, 50 ms a megabyte"},
	{"P02", "an attribute of 100 MB; quotes, comments, scripts without end", "bounded, and found the way again"},
	{"P03", "character references of every wrong kind", "as the standard says"},
	{"P04", "base late, twice, of other schemes, of 64 KB", "the first that is valid"},
	{"P05", "links of javascript:, data:, blob:, mailto:, tel:, about:", "dropped and counted"},
	{"P06", "a million links in a page", "bounded and counted"},
	{"P07", "links in comments, templates, noscript, srcset of 100,000 candidates, SVG", "as a browser sees them"},
	{"P08", "charsets that lie", "as the standard says, from the first 1,024 bytes; the bytes are kept"},
	{"P09", "XML that expands, that loads, that has a million namespaces", "nothing is expanded or loaded"},
	{"P11", "JSON 100,000 deep, style sheets that import themselves", "bounded"},
	{"P12", "bait for regular expressions", "linear"},
	{
		"P13",
		"20,000 links of one byte each against a base of 8 KB",
		"bytes of URLs bounded by the page's size; the rest counted",
	},

	{"U01", "URLs of 64 KB, of 10,000 parameters", "longer than 8 KiB is dropped and counted"},
	{"U02", "names of mixed scripts, bad punycode, sharp s, joiners", "as the URL standard says"},
	{"U03", "dots, doubled slashes, %00, %zz, encoded dots", "as the URL standard says, decoded once"},
	{"U04", "user and password in a URL", "neither sent nor logged"},
	{"U05", "port 0, 65536, 080, default ports", "refused, or left out"},
	{"U06", "fragments, empty queries", "fragments name no other page"},
	{"U07", "backslashes, tabs, line breaks, spaces, control bytes", "as the URL standard says"},
	{"U08", "IPv4 in odd notations, IPv6 with zones", "made normal, then judged as an address"},
	{"U09", "line breaks and terminal escapes in URLs", "escaped in logs, indexes, records"},
	{"U10", "a million URLs made to collide", "no slower"},

	{"T01", "a calendar without end", "little is spent"},
	{"T02", "session ids in path and query", "can be left out; few duplicates"},
	{"T03", "paths that repeat themselves", "seen by a rule"},
	{"T04", "a million combinations of facets", "5 % of the pages at most"},
	{"T05", "hosts without end below one domain", "bounded per registrable domain"},
	{"T06", "slow text without end", "the host sleeps, no worker waits for it"},
	{"T07", "200 for anything", "seen, and little is spent"},
	{"T08", "farms of domains on three addresses", "bounded per address"},
	{"T09", "one page at a million URLs", "parsed once, stored as revisits"},
	{"T10", "farms of redirects", "bounded as R08"},

	{
		"S01",
		"the disk is full at any write",
		"pause, say how much is wanted, go on when there is room; nothing is lost",
	},
	{"S02", "a disk that is full and not full in turns", "no flapping, no hang"},
	{"S03", "reads, writes, syncs that fail", "a failed sync is final for its file; the state says so"},
	{"S04", "read-only, deleted, forbidden", "a clean stop with one line"},
	{"S05", "writes torn at any byte", "the tail goes, nothing before it"},
	{"S06", "SIGKILL at any change of the disk", "the same pages in the end"},
	{"S07", "a power cut", "what was acknowledged is there"},
	{"S08", "bits that flip", "found by a checksum; rebuilt from the archive"},
	{"S09", "two crawls in one directory", "the second is refused"},
	{"S10", "data of another version", "refused or read, never spoiled"},
	{"S11", "memory runs short", "it sheds and spills, no process is killed"},
	{"S12", "256 descriptors; none left", "counted at the start; waits, blames no host"},
	{"S13", "the clock jumps", "delays do not notice; dates say so"},
	{"S14", "signals, once and twice", "the first drains, the second stops; both can be resumed"},
	{"S15", "most of the processor stolen", "slower, and nothing else"},
	{"S16", "syncs of five seconds", "seen and said; nothing is lost"},
	{"S17", "no room for logs, logs in floods", "they never block a fetch"},

	{"A01", "no token, a default installation", "a socket or loopback only"},
	{"A02", "requests forged by web pages, rebound names, scripts in titles", "refused by Host and Origin; escaped"},
	{"A03", "very many seeds, a gigabyte of JSON, slow posts", "streamed and limited"},
	{"A04", "filters that are wrong, slow or match all", "compiled or refused, linear; --dry-run shows"},
	{"A05", "pause and resume ten thousand times at once", "one after the other, the last holds"},
	{"A06", "names that climb out of the directory", "refused"},
	{"A07", "profiles without a token", "off unless asked for"},

	{"G01", "a full, partial or one-way partition, and its end", "no agent stops; one group again within 60 s"},
	{
		"G02",
		"a peer to which a kilobyte a second gets through",
		"messages to it wait on disk; the others keep 98 % of their rate",
	},
	{
		"G03",
		"a peer that starts again: with its data, without, at another address",
		"it has its hosts back; nothing is missing, and no more is fetched twice than was lost or in flight",
	},
	{"G04", "two peers of one name", "the second is refused; of two groups that meet, one of the two stops in order"},
	{
		"G05",
		"a peer that floods 10^8 URLs, sends what is out of scope, private, unreadable or another's",
		"all checks are repeated, a quota for each peer, bans; honest hosts notice nothing",
	},
	{
		"G06",
		"agents without a certificate, other crawls, connections and words played back, replaced certificates",
		"refused, counted, logged",
	},
	{"G07", "a peer that speaks another protocol", "an error of its own; messages to it wait"},
	{"G08", "a peer loses its power when it has acknowledged", "acknowledged is durable; what is not is sent again"},
	{
		"G09",
		"a clock that is wrong by a day",
		"no effect: no agent sends the time of day, certificates reach a day into the past",
	},
	{
		"G10",
		"peers come and go, one each second",
		"coverage is whole and hosts keep their delays; all agree on the members after an hour of it",
	},
	{
		"X01",
		"a robots.txt that redirects to a URL of another host, which fails, is busy or asks for a day of rest",
		"one request; what it answers says nothing about that host, and the first host pays",
	},
	{
		"X02",
		"hundreds of hosts whose robots.txt redirects to one host",
		"one request answers all that name the same URL; all together get a tenth of its turns",
	},
	{
		"X03",
		"a mirror on another domain is crawled before the original, whole or with a word more",
		"all links of the original are followed, also with --near-duplicates skip-links",
	},
	{
		"X04",
		"a page links to hundreds of URLs that another host does not have",
		"one request for each; no page of the other host is left out",
	},
	{
		"X05",
		"a host at the address of an honest one that stays silent",
		"the address waits for its time-outs, until the silent host is given up",
	},
	{
		"X06",
		"many hosts at once that refuse, time out, reset or answer 429 or 503 after they have answered before",
		"honest hosts keep their turns; fewer fetchers for some minutes of an hour at most",
	},
	{
		"X07",
		"more tarpits than fetchers",
		"they get six of eight fetchers, and hosts that are new seven; hosts that have served a page need not wait",
	},
	{
		"X08",
		"a link to a page of another host that answers 503 or 429 with Retry-After of a day",
		"the page waits; its host is asked for its root page as a proof, and goes on",
	},
	{
		"X09",
		"a site that sends huge bodies under a limit of bandwidth",
		"bodies are received a piece each by turns; a host with small pages does not notice",
	},
	{
		"X10",
		"a hundred mazes or failing hosts below the domain of an honest one; a thousand hosts that say nothing before it",
		"the honest host keeps its turns; if it is new then, it waits a turn for each of them",
	},
	{
		"X11",
		"robots.txt and sitemap indexes that name thousands of files of a host out of scope",
		"a thousand requests for each at most, in the turns of that host; nothing follows from what they are",
	},
}
