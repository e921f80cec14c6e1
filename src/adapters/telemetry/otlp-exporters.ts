import { OTLPExporterBase } from '@opentelemetry/otlp-exporter-base';
import {
  convertLegacyHttpOptions,
  createOtlpHttpExportDelegate,
} from '@opentelemetry/otlp-exporter-base/node-http';
import {
  type IExportTraceServiceResponse,
  type ISerializer,
  JsonTraceSerializer,
  ProtobufTraceSerializer,
} from '@opentelemetry/otlp-transformer';
import { type ReadableSpan } from '@opentelemetry/sdk-trace-base';

/** For spans that are written already. */
export const protobufExporter = (): OTLPExporterBase<Uint8Array> =>
  exporterOf('application/x-protobuf', {
    serializeRequest: (written: Uint8Array) => written,
    deserializeResponse: (data) => ProtobufTraceSerializer.deserializeResponse(data),
  });

export const jsonExporter = (): OTLPExporterBase<ReadableSpan[]> =>
  exporterOf('application/json', JsonTraceSerializer);

/** What the exporters of OpenTelemetry for traces consist of: address, headers and all the rest come from the environment. */
const exporterOf = <T>(
  type: string,
  serializer: ISerializer<T, IExportTraceServiceResponse>,
): OTLPExporterBase<T> =>
  new OTLPExporterBase(
    createOtlpHttpExportDelegate(
      convertLegacyHttpOptions({}, 'TRACES', 'v1/traces', { 'Content-Type': type }),
      serializer,
    ),
  );
