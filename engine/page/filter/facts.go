package filter

// urlFacts are the names of every expression: the URL and its distance from a seed.
type urlFacts struct {
	URL      string `expr:"url"`
	Site     string `expr:"site"`
	Scheme   string `expr:"scheme"`
	Host     string `expr:"host"`
	Port     int    `expr:"port"`
	Domain   string `expr:"domain"`
	Path     string `expr:"path"`
	Query    string `expr:"query"`
	Depth    int    `expr:"depth"`
	Hops     int    `expr:"hops"`
	Seed     bool   `expr:"seed"`
	InHost   bool   `expr:"in_host"`
	InDomain bool   `expr:"in_domain"`
	InPrefix bool   `expr:"in_prefix"`
}

// urlNeeds says which of the more expensive facts the expression uses.
type urlNeeds struct{ domain, inHost, inDomain, inPrefix bool }

func (n names) ofURL() urlNeeds {
	return urlNeeds{
		domain:   n.any("domain"),
		inHost:   n.any("in_host"),
		inDomain: n.any("in_domain"),
		inPrefix: n.any("in_prefix"),
	}
}

// fill computes the facts of a URL. It copies the URL once; all strings are parts of the copy.
func (f *urlFacts) fill(url []byte, p parts, way Way, need urlNeeds, seeds *Seeds) {
	u := string(url)
	host, path := u[len(p.scheme)+3:][:len(p.host)], len(p.site)
	*f = urlFacts{
		URL: u, Site: u[:path], Scheme: u[:len(p.scheme)], Host: host, Port: p.portNumber(), Path: u[path : path+len(p.path)],
		Depth: way.Depth, Hops: way.Hops, Seed: way == Way{},
	}
	if end := path + len(p.path); end < len(u) {
		f.Query = u[end+1:]
	}
	if need.domain {
		f.Domain = host[seeds.cut(p.host):]
	}
	f.InHost = need.inHost && seeds.inHost(p)
	f.InDomain = need.inDomain && seeds.inDomain(p)
	f.InPrefix = need.inPrefix && seeds.inPrefix(p)
}

// Way is the distance of a URL from a seed.
type Way struct {
	Depth  int // links from a seed; the depth of a page requisite is that of its page
	Embeds int // embed hops from the page, for a page requisite
	Hops   int // redirects followed since the last link
}

// Response is what filters know of a response. It borrows its slices.
type Response struct {
	Status      int
	ContentType []byte // value of the header
	Size        int64  // stored bytes of the body, without chunking
	Truncated   bool   // the body is truncated
	Duplicate   bool   // the payload is stored already; for Store only
	NeedsRender bool   // a browser must draw the page; for Store only
	Via         []byte // URL of the page with the link, if it is kept; for Store only
}
