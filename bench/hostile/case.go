package hostile

// Case is one hostile web: some hosts and what they send.
type Case struct {
	ID string
	// Seeds are the paths of the host to begin with; "/" if there are none. One that begins with a scheme is a whole
	// URL.
	Seeds []string
	// Robots is the answer for /robots.txt, if the case has its own; else there is none, status 404.
	Robots func(*Exchange)
	// Play answers one request.
	Play func(*Exchange)
	// Hosts are hosts outside the case's domain that the case serves as well.
	Hosts []string
}

// Cases are those that can be played, by id.
func Cases() map[string]*Case {
	all := map[string]*Case{}
	for _, list := range [][]Case{http1(), compression(), sitemaps(), redirects(), documents(), urls()} {
		for i := range list {
			if all[list[i].ID] != nil {
				panic("BUG: hostile: two cases " + list[i].ID)
			}
			all[list[i].ID] = &list[i]
		}
	}
	return all
}
