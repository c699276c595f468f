package weirhttp

import (
	"net/http"
	"net/netip"
	"strings"
)

// Key says whom a request is counted for.
type Key func(*http.Request) string

// ipv6Bits: one caller has as many IPv6 addresses as it likes within its network.
const ipv6Bits = 64

// ByAddress is the caller's address; of IPv6 the first 64 bits. Trusted are the proxies in front, as networks: from one of
// them X-Forwarded-For is read from its end, up to the first address that is none of them. What stands before that anybody
// may have written.
func ByAddress(trusted ...netip.Prefix) Key { return ByAddressIn("X-Forwarded-For", trusted...) }

// ByAddressIn is ByAddress with another header.
func ByAddressIn(header string, trusted ...netip.Prefix) Key {
	isTrusted := func(address netip.Addr) bool {
		for _, network := range trusted {
			if network.Contains(address) {
				return true
			}
		}
		return false
	}
	return func(request *http.Request) string {
		found, ok := address(request.RemoteAddr)
		if !ok {
			return "address:unknown"
		}
		if isTrusted(found) {
			words := strings.Split(strings.Join(request.Header.Values(header), ","), ",")
			for at := len(words) - 1; at >= 0; at-- {
				hop, ok := address(words[at])
				if !ok {
					break
				}
				found = hop
				if !isTrusted(hop) {
					break
				}
			}
		}
		return "address:" + group(found)
	}
}

// address as proxies write it: with a port, in brackets, IPv4 as IPv6.
func address(word string) (netip.Addr, bool) {
	word = strings.Trim(strings.TrimSpace(word), `"`)
	if rest, bracketed := strings.CutPrefix(word, "["); bracketed {
		word, _, _ = strings.Cut(rest, "]")
	} else if strings.Count(word, ":") == 1 {
		word, _, _ = strings.Cut(word, ":")
	}
	found, err := netip.ParseAddr(word)
	return found.Unmap().WithZone(""), err == nil
}

func group(address netip.Addr) string {
	if address.Is4() {
		return address.String()
	}
	return netip.PrefixFrom(address, ipv6Bits).Masked().String()
}

// ByHeader is the value of a header, such as an API key. Callers without it are counted by otherwise, nil being their
// address.
func ByHeader(name string, otherwise Key) Key {
	return by("header:", func(request *http.Request) string { return request.Header.Get(name) }, otherwise)
}

// ByUser is whom the function finds to be logged in. Others are counted by otherwise, nil being their address.
func ByUser(user func(*http.Request) string, otherwise Key) Key { return by("user:", user, otherwise) }

func by(kind string, value func(*http.Request) string, otherwise Key) Key {
	if otherwise == nil {
		otherwise = ByAddress()
	}
	return func(request *http.Request) string {
		if found := value(request); found != "" {
			return kind + found
		}
		return otherwise(request)
	}
}

// PerRoute counts each method and path of a caller by itself.
func PerRoute(key Key) Key {
	return func(request *http.Request) string {
		return key(request) + ":" + request.Method + ":" + request.URL.Path
	}
}
