import { openApiDocument, routeTable, VERSION } from '@crewboard/api';
import { fakeService } from '../api/fake-service.ts';

/** The OpenAPI document of the route table, as a value. */
export function openApiOfRoutes() {
  return openApiDocument(routeTable(fakeService().service), VERSION);
}

/** The document as it stands in docs/openapi.json. */
export function documentText(): string {
  return `${JSON.stringify(openApiOfRoutes(), undefined, 2)}\n`;
}
