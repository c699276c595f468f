// redis_exporter scrapes the server: every scrape without an error, and its figures are the server's.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"weir/tests/clients/probe"
	. "weir/tests/clients/report"
)

var (
	ctx      = context.Background()
	folder   = Got(os.MkdirTemp("", "weir-clients-exporter-"))
	script   = filepath.Join(folder, "size.lua")
	address  = probe.FreeAddress()
	exporter *probe.Child
)

// scrape answers the figures by their name and labels.
func scrape() map[string]float64 {
	status, text, err := probe.HTTP("http://"+address+"/metrics", "")
	Must(err)
	Equal(status, 200)
	figures := map[string]float64{}
	for line := range strings.Lines(text) {
		at := strings.LastIndex(line, " ")
		if line[0] == '#' || at < 0 {
			continue
		}
		figures[line[:at]] = Got(strconv.ParseFloat(strings.TrimSpace(line[at+1:]), 64))
	}
	return figures
}

func healthy(figures map[string]float64) {
	Equal([]float64{figures["redis_up"], figures[`redis_exporter_last_scrape_error{err=""}`]}, []float64{1, 0})
}

func start() {
	Must(os.WriteFile(script, []byte("return {'keys', tostring(redis.call('DBSIZE')), 'two', '2'}"), 0o600))
	exporter = probe.Start("CLIENTS_EXPORTER", folder, nil, "--redis.addr=redis://"+Address, "--web.listen-address="+address,
		"--check-single-keys=text,number,hash,list,set,zset,absent", "--check-keys=db0=group:*",
		"--count-keys=db0=group:*", "--check-key-groups=^(group):.*$", "--script="+script,
		"--export-client-list", "--include-config-metrics", "--include-system-metrics")
	probe.Until(10*time.Second, func() error {
		_, _, err := probe.HTTP("http://"+address+"/", "")
		return err
	})
	healthy(scrape())
}

func fill() {
	server := probe.Client
	Must(server.Set(ctx, "text", "x", 0).Err())
	Must(server.Set(ctx, "number", 42, 1000*time.Second).Err())
	Must(server.HSet(ctx, "hash", "a", 1, "b", 2).Err())
	Must(server.RPush(ctx, "list", 1, 2, 3).Err())
	Must(server.SAdd(ctx, "set", 1, 2, 3, 4).Err())
	Must(server.ZAdd(ctx, "zset", redis.Z{Score: 1, Member: "a"}).Err())
	for index := range 7 {
		Must(server.Set(ctx, fmt.Sprint("group:", index), index, 0).Err())
	}
	Must(server.Get(ctx, "text").Err())
	Equal(server.Get(ctx, "absent").Err(), redis.Nil)
}

func keys() {
	fill()
	figures := scrape()
	healthy(figures)
	for name, wanted := range map[string]float64{
		`redis_db_keys{db="db0"}`: 13, `redis_db_keys_expiring{db="db0"}`: 1, `redis_db_keys{db="db1"}`: 0,
		`redis_key_size{db="db0",key="text"}`: 1, `redis_key_value{db="db0",key="number"}`: 42,
		`redis_key_size{db="db0",key="hash"}`: 2, `redis_key_size{db="db0",key="list"}`: 3,
		`redis_key_size{db="db0",key="set"}`: 4, `redis_key_size{db="db0",key="zset"}`: 1,
		`redis_key_value{db="db0",key="group:6"}`: 6, `redis_keys_count{db="db0",key="group:*"}`: 7,
		`redis_key_size{db="db0",key="absent"}`:                    0,
		`redis_key_group_count{db="db0",key_group="group"}`:        7,
		`redis_key_group_count{db="db0",key_group="unclassified"}`: 6,
		`redis_script_result{filename="` + script + `"}`:           1,
		`redis_script_values{filename="` + script + `",key="two"}`: 2,
	} {
		if got, there := figures[name]; !there || got != wanted {
			Fail("%s is %v (%v), wanted %v", name, got, there, wanted)
		}
	}
}

func info(section string) map[string]string {
	fields := map[string]string{}
	for _, line := range regexp.MustCompile(`(?m)^([^#:\r\n]+):(.*?)\r?$`).FindAllStringSubmatch(
		Got(probe.Client.Info(ctx, section).Result()), -1) {
		fields[line[1]] = line[2]
	}
	return fields
}

// rising are INFO's counters, and what the exporter calls them.
var rising = map[string]string{
	"total_connections_received": "redis_connections_received_total", "total_commands_processed": "redis_commands_processed_total",
	"keyspace_hits": "redis_keyspace_hits_total", "keyspace_misses": "redis_keyspace_misses_total",
	"total_net_input_bytes": "redis_net_input_bytes_total", "total_net_output_bytes": "redis_net_output_bytes_total",
	"expired_keys": "redis_expired_keys_total", "evicted_keys": "redis_evicted_keys_total",
	"rejected_connections": "redis_rejected_connections_total", "uptime_in_seconds": "redis_uptime_in_seconds",
	"maxclients": "redis_max_clients", "used_memory_peak": "redis_memory_used_peak_bytes", "blocked_clients": "redis_blocked_clients",
	"used_cpu_sys": "redis_cpu_sys_seconds_total", "used_cpu_user": "redis_cpu_user_seconds_total",
	"connected_slaves": "redis_connected_slaves", "pubsub_channels": "redis_pubsub_channels",
}

// counters: what rises lies between INFO before the scrape and INFO after it.
func counters() {
	before := info("all")
	figures := scrape()
	after := info("all")
	for field, name := range rising {
		got, there := figures[name]
		if !there {
			Fail("there is no %s", name)
		}
		Between(Got(strconv.ParseFloat(before[field], 64)), got, Got(strconv.ParseFloat(after[field], 64)), name)
	}
	Between(1e5, figures["redis_memory_used_rss_bytes"], 1e10, "RSS")
	Between(1e3, figures["redis_memory_used_bytes"], 1e10, "memory used")
	Between(2, figures["redis_connected_clients"], 10, "connected clients")
	for command, wanted := range map[string]float64{"set": 9, "hset": 1, "get": 2, "rpush": 1, "zadd": 1} {
		got := figures[fmt.Sprintf(`redis_commands_total{cmd="%s"}`, command)]
		Between(wanted, got, wanted+100, command+" calls")
	}
}

func instance() {
	fields, found := info("all"), ""
	for name := range scrape() {
		if strings.HasPrefix(name, "redis_instance_info{") {
			found = name
		}
	}
	for label, field := range map[string]string{"redis_version": "redis_version", "redis_mode": "redis_mode", "role": "role",
		"run_id": "run_id", "tcp_port": "tcp_port", "maxmemory_policy": "maxmemory_policy", "os": "os", "process_id": "process_id"} {
		if fields[field] == "" || !strings.Contains(found, label+`="`+fields[field]+`"`) {
			Fail("%s %q is not in %s", label, fields[field], found)
		}
	}
}

func clientsAndConfig() {
	figures := scrape()
	count := 0
	for name, value := range figures {
		if strings.HasPrefix(name, `redis_connected_client_info{`) && strings.Contains(name, `name="redis_exporter"`) {
			count += int(value)
		}
	}
	Equal(count, 1)
	Equal(figures["redis_config_maxclients"], 10000.0)
}

func restart() {
	kept := scrape()[`redis_db_keys{db="db0"}`]
	RestartServer()
	probe.Until(probe.ReconnectMax, func() error {
		if scrape()["redis_up"] != 1 {
			return errors.New("redis_up is 0")
		}
		return nil
	})
	figures := scrape()
	healthy(figures)
	Between(0, figures["redis_uptime_in_seconds"], 20, "uptime")
	if IsDurable {
		Equal(figures[`redis_db_keys{db="db0"}`], kept)
	}
}

func log() { Equal(exporter.Complaints("level=error", "level=warn", "level=fatal"), []string(nil)) }

func main() {
	defer os.RemoveAll(folder)
	Say("version %s", probe.VersionOf("CLIENTS_EXPORTER"))
	Check("start", start)
	Check("keys", keys)
	Check("counters", counters)
	Check("instance", instance)
	Check("clients-config", clientsAndConfig)
	Check("restart", restart)
	Check("log", log)
	exporter.Stop()
	Say("done")
}
