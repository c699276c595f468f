{{- define "weir.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{/* The release's name, and the chart's unless the release is called so. */}}
{{- define "weir.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains (include "weir.name" .) .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "weir.name" .) | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "weir.selector" -}}
app.kubernetes.io/name: {{ include "weir.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "weir.labels" -}}
{{ include "weir.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "weir.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{- define "weir.hasTls" -}}
{{- if .Values.tls.existingSecret }}yes{{ end -}}
{{- end -}}

{{- define "weir.hasPlain" -}}
{{- if not (and .Values.tls.only .Values.tls.existingSecret) }}yes{{ end -}}
{{- end -}}

{{/* By which probes and monitoring come to port 9121. */}}
{{- define "weir.scheme" -}}
{{- ternary "HTTP" "HTTPS" (eq (include "weir.hasPlain" .) "yes") -}}
{{- end -}}

{{- define "weir.hasTopology" -}}
{{- if or (gt (int .Values.cluster.owners) 1) .Values.cluster.topology }}yes{{ end -}}
{{- end -}}

{{- define "weir.hasFailover" -}}
{{- if gt (int .Values.failover.members) 0 }}yes{{ end -}}
{{- end -}}

{{- define "weir.hasShards" -}}
{{- if .Values.cluster.shards }}yes{{ end -}}
{{- end -}}

{{/* Whether the pods are members of a shard, or of several. */}}
{{- define "weir.hasMembers" -}}
{{- if or (include "weir.hasFailover" .) (include "weir.hasShards" .) }}yes{{ end -}}
{{- end -}}

{{/* Whether members ask one another for a password. */}}
{{- define "weir.hasMemberUser" -}}
{{- if and (include "weir.hasMembers" .) .Values.auth.enabled }}yes{{ end -}}
{{- end -}}

{{/* The text that founds the cluster, in its canonical form, of which its id is made. */}}
{{- define "weir.founding" -}}
{{- $count := len .Values.cluster.shards -}}
cluster {{ .Values.cluster.name }} {{ .Values.cluster.id }}
{{- range $at, $shard := .Values.cluster.shards }}
shard {{ $shard }} {{ div (mul 16384 $at) $count }}-{{ sub (div (mul 16384 (add1 $at)) $count) 1 }}
{{- end }}
{{ end -}}

{{/* Two members of each shard, whom a member without a map asks for the others. */}}
{{- define "weir.seeds" -}}
{{- $port := ternary 6379 6380 (eq (include "weir.hasPlain" .) "yes") -}}
{{- $seeds := list -}}
{{- range $shard := .Values.cluster.shards -}}
{{- range $at := until 2 -}}
{{- $seeds = append $seeds (printf "%s-%s-%d.%s:%v" (include "weir.fullname" $) $shard $at (include "weir.domain" $) $port) -}}
{{- end -}}
{{- end -}}
{{- join " " $seeds -}}
{{- end -}}

{{/* What the pods of one shard are chosen by; of all pods where there are no several shards. */}}
{{- define "weir.shardSelector" -}}
{{ include "weir.selector" .root }}
{{- if .shard }}
shard: {{ .shard | quote }}
{{- end }}
{{- end -}}

{{/* The name of a shard's objects; that of the release where there are no several shards. */}}
{{- define "weir.shardName" -}}
{{- include "weir.fullname" .root }}{{ if .shard }}-{{ .shard }}{{ end -}}
{{- end -}}

{{- define "weir.usersSecret" -}}
{{- .Values.auth.existingSecret | default (include "weir.fullname" .) -}}
{{- end -}}

{{/* The EndpointSlice that leads clients to the member that serves. */}}
{{- define "weir.slice" -}}
{{- include "weir.fullname" . }}-serving
{{- end -}}

{{/* What follows a pod's name in the name by which clients reach it. */}}
{{- define "weir.domain" -}}
{{- printf "%s-headless.%s.svc.%s" (include "weir.fullname" .) .Release.Namespace .Values.cluster.domain -}}
{{- end -}}

{{/* Of the pods; the containers add their own. */}}
{{- define "weir.podSecurity" -}}
runAsNonRoot: true
runAsUser: 999
runAsGroup: 999
fsGroup: 999
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "weir.containerSecurity" -}}
readOnlyRootFilesystem: true
allowPrivilegeEscalation: false
capabilities: {drop: [ALL]}
{{- end -}}

{{/* The ports for clients, of a Service or (with numbers alone) of an EndpointSlice. */}}
{{- define "weir.clientPorts" -}}
{{- $numbers := dict -}}
{{- if include "weir.hasPlain" . }}{{ $_ := set $numbers "redis" 6379 }}{{ end -}}
{{- if include "weir.hasTls" . }}{{ $_ := set $numbers "redis-tls" 6380 }}{{ end -}}
{{- if .Values.http.enabled -}}
{{- if include "weir.hasPlain" . }}{{ $_ := set $numbers "http" 7080 }}{{ end -}}
{{- if include "weir.hasTls" . }}{{ $_ := set $numbers "https" 7443 }}{{ end -}}
{{- end -}}
{{- $numbers | toJson -}}
{{- end -}}

{{/* The file of cluster-topology. */}}
{{- define "weir.topology" -}}
{{- if .Values.cluster.topology -}}
{{ .Values.cluster.topology | trim }}
{{- else -}}
{{- $owners := int .Values.cluster.owners -}}
{{- $name := include "weir.fullname" . -}}
{{- $port := ternary 6379 6380 (eq (include "weir.hasPlain" .) "yes") -}}
{{- $tls := and (include "weir.hasTls" .) (include "weir.hasPlain" .) -}}
epoch {{ int .Values.cluster.epoch }}{{ if .Values.cluster.epochJump }} jump{{ end }}
{{- range $at := until $owners }}
{{ $name }}-{{ $at }} {{ $name }}-{{ $at }}.{{ include "weir.domain" $ }}:{{ $port }} {{ div (mul 16384 $at) $owners }}-{{ sub (div (mul 16384 (add1 $at)) $owners) 1 }}{{ if $tls }} tls-port=6380{{ end }}
{{- end }}
{{- end -}}
{{- end -}}

{{- define "weir.conf" -}}
{{- $plain := include "weir.hasPlain" . -}}
# Written by the chart. The lines of `config` come last and win.
bind * -::*
port {{ ternary 6379 0 (eq $plain "yes") }}
dir /data/{{ .Values.persistence.directory }}
watch-files yes
metrics-port {{ ternary 9121 0 (eq $plain "yes") }}
metrics-bind * -::*
{{- if not $plain }}
# A kubelet has no certificate that it could show.
metrics-tls-port 9121
metrics-tls-auth-clients no
{{- end }}
{{- if .Values.auth.enabled }}
aclfile /etc/weir/users/users.acl
{{- else }}
protected-mode no
{{- end }}
{{- if .Values.policies }}
policies-file /etc/weir/conf/policies
{{- end }}
{{- if include "weir.hasTls" . }}
tls-port 6380
tls-cert-file /etc/weir/tls/tls.crt
tls-key-file /etc/weir/tls/tls.key
tls-auth-clients {{ .Values.tls.authClients }}
{{- if ne .Values.tls.authClients "no" }}
tls-ca-cert-file /etc/weir/tls/ca.crt
{{- end }}
{{- end }}
{{- if .Values.http.enabled }}
http-bind * -::*
{{- if $plain }}
http-port 7080
{{- end }}
{{- if include "weir.hasTls" . }}
http-tls-port 7443
{{- end }}
{{- end }}
{{- if include "weir.hasTopology" . }}
cluster-enabled yes
cluster-topology /etc/weir/conf/topology
{{- end }}
{{- if include "weir.hasShards" . }}
cluster-enabled yes
cluster-seeds {{ include "weir.seeds" . | quote }}
{{- end }}
{{- if include "weir.hasMembers" . }}
log {{ .Values.failover.log }}
{{- if include "weir.hasFailover" . }}
shard {{ .Values.failover.shard }}
{{- end }}
{{- if .Values.failover.logSecret }}
log-password-file /etc/weir/log/password
{{- end }}
{{- if and $plain (include "weir.hasTls" .) }}
cluster-announce-port 6379
{{- end }}
{{- if include "weir.hasMemberUser" . }}
member-user weir-member
{{- end }}
{{- end }}
{{- with .Values.config }}
{{ . | trim }}
{{- end }}
{{- end -}}

{{/* What cannot be meant is not installed. */}}
{{- define "weir.check" -}}
{{- if and .Values.auth.enabled (not (or .Values.auth.password .Values.auth.users .Values.auth.existingSecret)) -}}
{{- fail "set auth.password, auth.users or auth.existingSecret, or auth.enabled=false where everybody who reaches weir may do everything" -}}
{{- end -}}
{{- if and .Values.tls.only (not .Values.tls.existingSecret) -}}
{{- fail "tls.only needs tls.existingSecret" -}}
{{- end -}}
{{- if include "weir.hasFailover" . -}}
{{- if eq (int .Values.failover.members) 1 -}}
{{- fail "failover.members is 0, or 2 and more: one member has nobody who could take over" -}}
{{- end -}}
{{- if include "weir.hasTopology" . -}}
{{- fail "failover.members and cluster.owners exclude each other: for several shards with failover set cluster.shards" -}}
{{- end -}}
{{- end -}}
{{- if include "weir.hasShards" . -}}
{{- if include "weir.hasFailover" . -}}
{{- fail "cluster.shards and failover.members exclude each other: cluster.members says how many members each shard has" -}}
{{- end -}}
{{- if include "weir.hasTopology" . -}}
{{- fail "cluster.shards excludes cluster.owners and cluster.topology: the slots are the shards'" -}}
{{- end -}}
{{- range $shard := .Values.cluster.shards -}}
{{- $set := include "weir.shardName" (dict "root" $ "shard" $shard) -}}
{{- if gt (len $set) 52 -}}
{{- fail (printf "the StatefulSet %s would have a name of more than 52 characters, of which Kubernetes makes no pods: set a shorter fullnameOverride" $set) -}}
{{- end -}}
{{- end -}}
{{- if not .Values.cluster.id -}}
{{- fail "set cluster.id, the 32 hexadecimal digits after the name in what `weir-cluster found` prints, and keep them" -}}
{{- end -}}
{{- end -}}
{{- if include "weir.hasMembers" . -}}
{{- if not .Values.failover.log -}}
{{- fail (printf "%s needs failover.log, the address of the shared log" (ternary "cluster.shards" "failover.members" (eq (include "weir.hasShards" .) "yes"))) -}}
{{- end -}}
{{- if and .Values.auth.enabled (not (or .Values.auth.existingSecret .Values.failover.memberPassword)) -}}
{{- fail "set failover.memberPassword, by which members know one another" -}}
{{- end -}}
{{- end -}}
{{- end -}}
