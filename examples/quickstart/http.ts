// An HTTP API with one route, which calls a function. A class that derives from Resource groups what it allocates.
import { Resource, env, project } from "stead";
import { apigatewayv2, lambda } from "stead/aws";

export class HttpEndpoint extends Resource {
  readonly url: string;

  constructor(id: string, { route, handler }: { route: string; handler: lambda.Function }) {
    super(id);
    const api = new apigatewayv2.Api({ Name: `${project}-${env}-${id}`, ProtocolType: "HTTP" });
    const integration = new apigatewayv2.Integration({
      ApiId: api.ApiId,
      IntegrationType: "AWS_PROXY",
      IntegrationUri: handler.Arn,
      PayloadFormatVersion: "2.0",
    });
    new apigatewayv2.Route({
      ApiId: api.ApiId,
      RouteKey: route,
      Target: `integrations/${integration.IntegrationId}`,
    });
    new apigatewayv2.Stage({ ApiId: api.ApiId, StageName: "$default", AutoDeploy: true });
    new lambda.Permission({
      FunctionName: handler.Arn,
      Action: "lambda:InvokeFunction",
      Principal: "apigateway.amazonaws.com",
      SourceArn: `${api.ExecuteApiArn}/*`,
    });
    this.url = api.ApiEndpoint;
  }
}
