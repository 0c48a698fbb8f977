package filter

// urlNames are the names of urlFacts.
const urlNames = "url, site, scheme, host, port, domain, path, query, depth, hops, seed, in_host, in_domain, in_prefix"

// knownNames lists the names that an expression may use, for a person with a misspelt one. facts is a pointer to the
// facts of the expression.
func knownNames(facts any) string {
	switch facts.(type) {
	case *fetchFacts:
		return urlNames + ", try, via"
	case *followFacts:
		return urlNames + ", kind, nofollow, via, via_host, via_domain, same_host, same_domain, status, content_type, " +
			"needs_render"
	case *scoreFacts:
		return knownNames(new(followFacts)) + ", anchor, via_title, via_count"
	case *parseFacts:
		return urlNames + ", status, content_type, size, truncated"
	case *storeFacts:
		return urlNames + ", status, content_type, size, truncated, duplicate, needs_render, via"
	case *statFacts:
		return urlNames + ", status, content_type, size, truncated, duplicate, needs_render, via, outcome, stored, " +
			"seconds"
	default:
		return urlNames
	}
}
