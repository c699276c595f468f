package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	. "weir/tests/clients/report"
)

const kuadrant = "kuadrant.service.ratelimit.v1.RateLimitService/"

// Kuadrant's two methods, of which no published module has the messages.
func reservation(call func(method, request string, answer any)) {
	const asked = `{"domain": "site", "descriptors": [{"entries": [{"key": "user", "value": "held"}]}], `
	var first, second struct{ Code, ReservationId string }
	call("Reserve", asked+`"amount": "2", "ttl": "30s"}`, &first)
	Equal(first.Code, "OK")
	call("Reserve", asked+`"amount": "2", "ttl": "0.5s"}`, &second)
	Equal(second.Code+second.ReservationId, "OVER_LIMIT")
	var committed struct{ ReservationReleased bool }
	call("Commit", fmt.Sprintf(asked+`"reservationId": %q, "actualAmount": "1"}`, first.ReservationId), &committed)
	Equal(committed.ReservationReleased, true)
	call("Reserve", asked+`"amount": "2"}`, &second)
	Equal(second.Code, "OK")
}

// A client without files of the messages: what it lists and describes, and a call by that.
func reflection(address string) func() {
	grpcurl := func(words ...string) string {
		out, err := exec.Command(os.Getenv("CLIENTS_GRPCURL"), append([]string{"-plaintext"}, words...)...).CombinedOutput()
		if err != nil {
			Fail("grpcurl %v: %v: %s", words, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	return func() {
		if !IsWeir {
			Skip("the reference service has no reflection")
		}
		const limiter = "envoy.service.ratelimit.v3.RateLimitService"
		services := strings.Fields(grpcurl(address, "list"))
		for _, name := range []string{limiter, "grpc.health.v1.Health"} {
			Equal(slices.Contains(services, name), true)
		}
		Equal(grpcurl(address, "list", limiter), limiter+".ShouldRateLimit")
		Equal(grpcurl(address, "describe", limiter+".ShouldRateLimit"), limiter+`.ShouldRateLimit is a method:
rpc ShouldRateLimit ( .envoy.service.ratelimit.v3.RateLimitRequest ) returns ( .envoy.service.ratelimit.v3.RateLimitResponse );`)
		request := `{"domain": "site", "descriptors": [{"entries": [{"key": "user", "value": "curl"}], "hits_addend": "2"}]}`
		var answered struct {
			OverallCode string
			Statuses    []struct {
				Code           string
				CurrentLimit   struct{ Unit string }
				LimitRemaining int
			}
		}
		Must(json.Unmarshal([]byte(grpcurl("-d", request, address, limiter+"/ShouldRateLimit")), &answered))
		Equal(fmt.Sprint(answered), "{OK [{OK {DAY} 1}]}")
		for _, name := range services {
			Equal(strings.HasPrefix(grpcurl(address, "describe", name), name+" is a service:"), true)
		}
		Equal(len(services), 5)
		reservation(func(method, request string, answer any) {
			Must(json.Unmarshal([]byte(grpcurl("-d", request, address, kuadrant+method)), answer))
		})
	}
}
